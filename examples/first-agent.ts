import { allow, ask, createHarness, defineTool, type RuleCall } from "belay-harness";
import { createMemoryStore } from "belay-harness/store";
import { scriptedModel } from "belay-harness/testing";
import { z } from "zod";

const input = z.strictObject({ order: z.string(), cents: z.int().positive() });
const contract = { name: "refund", description: "Refund an order", level: "irreversible", recovery: "keyed" } as const;
const refund = defineTool({ ...contract, input, execute: ({ order, cents }) => ({ refunded: order, cents }) });
const decide = ({ args }: RuleCall) =>
  input.parse(args).cents > 2000 ? ask("ABOVE_LIMIT", "above 20.00") : allow("OK", "small");
const rules = [{ id: "limit", tools: ["refund"], decide }];

const call = { tool: "refund", args: { json: { order: "A-1", cents: 4000 } } };
const replies = [{ kind: "calls", text: "", calls: [call] } as const, { kind: "final", text: "Refunded." } as const];
const agent = { name: "desk", revision: "1", instructions: "Refund orders.", tools: [refund], rules };
const harness = createHarness({ agent, model: scriptedModel(replies), store: createMemoryStore() });

const run = await harness.run("Please refund order A-1").result;
for (const { approvalId, tool, reason } of run.approvals) {
  process.stdout.write(`${run.status}: ${tool} is ${reason}\n`);
  await harness.decide({ approvalId, answer: "approved", by: { kind: "person", id: "dana" } });
}
process.stdout.write(`${(await harness.advance(run)).status}\n`);
