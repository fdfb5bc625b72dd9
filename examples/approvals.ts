/** A question to a person: who may answer, what a yes covers, and what happens when the world or the clock moves on. */
import assert from "node:assert/strict";
import {
  type Agent,
  allow,
  ask,
  createHarness,
  defineAgent,
  defineRule,
  defineTool,
  deny,
  type Harness,
  type RunResult,
} from "belay-harness";
import { createMemoryStore } from "belay-harness/store";
import { scriptedModel } from "belay-harness/testing";
import { z } from "zod";

const input = z.strictObject({ order: z.string(), cents: z.int().positive() });
const world = { leftCents: 5000, paid: [] as number[] };
let now = Date.UTC(2030, 0, 1);

const refund = defineTool({
  name: "refund",
  description: "Refund part of an order",
  level: "irreversible",
  recovery: "keyed",
  input,
  execute: ({ cents }) => {
    world.leftCents -= cents;
    world.paid.push(cents);
    return { leftCents: world.leftCents };
  },
});

const balance = defineRule({
  id: "balance",
  decide: ({ args }) => (input.parse(args).cents > world.leftCents ? deny("TOO_MUCH", "more than is left") : undefined),
});

const limit = defineRule({
  id: "limit",
  decide: ({ args }) => (input.parse(args).cents > 2000 ? ask("ABOVE_LIMIT", "above 20.00") : allow("OK", "small")),
});

const agent: Agent = defineAgent({
  name: "desk",
  revision: "1",
  instructions: "Refund orders.",
  tools: [refund],
  rules: [balance, limit],
  approval: { ttlMs: 60 * 60 * 1000, onReject: "end_run", onExpiry: "end_run", onWorldChanged: "end_run" },
});

function newHarness(): Harness {
  const call = { tool: "refund", args: { json: { order: "A-1", cents: 4000 } } };
  return createHarness({
    agent,
    model: scriptedModel([
      { kind: "calls", text: "", calls: [call] },
      { kind: "final", text: "Refunded." },
    ]),
    store: createMemoryStore(),
    clock: { now: () => now },
    // Beside the built-in rules: only a person answers, and never the one who asked.
    mayDecide: (by, approval) => by.id === "dana" && approval.tool === "refund",
  });
}

async function askedRun(harness: Harness): Promise<{ readonly run: RunResult; readonly approvalId: string }> {
  const run = await harness.run("Please refund order A-1").result;
  const approvalId = run.approvals[0]?.approvalId ?? "";
  assert.equal(run.status, "waiting");
  return { run, approvalId };
}

const dana = { kind: "person", id: "dana" } as const;

// 1. Who may answer; and the first answer stands.
{
  const harness = newHarness();
  const { run, approvalId } = await askedRun(harness);
  const answer = async (by: Parameters<Harness["decide"]>[0]["by"]) =>
    (await harness.decide({ approvalId, answer: "approved", by })).status;
  assert.equal(await answer({ kind: "agent", id: "desk" }), "not_permitted");
  assert.equal(await answer({ kind: "person", id: "vik" }), "not_permitted");
  assert.equal(await answer(dana), "recorded");
  assert.equal(await answer(dana), "already_decided");
  assert.deepEqual(world.paid, []); // recorded, and not acted on before somebody advances the run
  assert.equal((await harness.advance(run)).status, "done");
  await harness.advance(run);
  assert.deepEqual(world.paid, [4000]);
}

// 2. The yes came too late for the world: the rules look once more, and a deny wins.
{
  world.leftCents = 5000;
  const harness = newHarness();
  const { run, approvalId } = await askedRun(harness);
  world.leftCents = 1000;
  await harness.decide({ approvalId, answer: "approved", by: dana });
  assert.equal((await harness.advance(run)).label, "world_changed:TOO_MUCH");
  assert.deepEqual(world.paid, [4000]);
}

// 3. Nobody answered in time: refused without a look at the world.
{
  world.leftCents = 5000;
  const harness = newHarness();
  const { run, approvalId } = await askedRun(harness);
  now += 60 * 60 * 1000;
  assert.equal((await harness.decide({ approvalId, answer: "approved", by: dana })).status, "expired");
  assert.equal((await harness.advance(run)).label, "approval_expired");
  assert.deepEqual(world.paid, [4000]);
}

process.stdout.write("One refund for three questions: approved, world changed, expired.\n");
