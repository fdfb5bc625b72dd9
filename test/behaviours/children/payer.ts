/**
 * Child process: drives the run `r` of a payer agent over a SQLite store, and dies where it is told.
 *
 * Arguments: folder, recovery class, where to die (`effect`, `exit-effect`, `model`, `never`), and `decide` to answer
 * the open questions first. Prints one line of JSON when it gets to the end.
 */
import { join } from "node:path";
import { z } from "zod";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { createHarness, defineTool, type ModelReply, type RecoveryClass, type RunResult } from "../../../src/index.ts";
import { pay, paymentsIn } from "./far-side.ts";

const [folder = "", recoveryName = "keyed", dies = "never", then = ""] = process.argv.slice(2);
const recovery = recoveryName as RecoveryClass;
const ledger = join(folder, "ledger.jsonl");
const RUN = { tenant: "default", runId: "r" };
const LEASE_MS = 40;

function die(): void {
  if (dies === "exit-effect") process.exit(3);
  process.kill(process.pid, "SIGKILL");
}

const tool = defineTool({
  name: "pay",
  description: "Pays",
  level: "write",
  recovery,
  timeoutMs: 50,
  input: z.strictObject({ to: z.string() }),
  execute: async ({ to }, { idempotencyKey }) => {
    pay(ledger, { key: idempotencyKey, to }, recovery === "keyed");
    if (dies === "effect" || dies === "exit-effect") die();
    return { paid: to };
  },
  lookup: (_args, { idempotencyKey }) =>
    recovery === "queryable" && paymentsIn(ledger).some(({ key }) => key === idempotencyKey)
      ? { paid: "before" }
      : undefined,
});

const replies: readonly ModelReply[] = [
  { kind: "calls", text: "", calls: [{ tool: "pay", args: { json: { to: "ann" } } }] },
  { kind: "final", text: "done" },
];

await using store = await openSqliteStore(join(folder, "store.db"));
const harness = createHarness({
  agent: {
    name: "payer",
    revision: "1",
    instructions: "",
    tools: [tool],
    rules: [{ id: "gate", decide: () => ({ verdict: "ask", code: "ASK", reason: "" }) }],
  },
  model: {
    id: "m",
    generate: async ({ messages }) => {
      if (dies === "model") die();
      return replies[messages.filter(({ role }) => role === "assistant").length] ?? { kind: "final", text: "done" };
    },
  },
  store,
  leaseMs: LEASE_MS,
});

if ((await store.read(RUN)).length === 0) await harness.start("pay ann", { runId: RUN.runId });
const outcomes: string[] = [];
if (then === "decide") {
  for (const { approvalId } of await store.approvals({ tenant: "default" })) {
    const by = { kind: "person", id: "dana" } as const;
    outcomes.push((await harness.decide({ approvalId, answer: "approved", by })).status);
  }
}
// The lease of a process that died has to run out first, and a slow machine may lose its own.
const isUnderWay = ({ status, approvals }: RunResult): boolean =>
  status === "busy" || (status === "waiting" && approvals.length === 0);
let result = await harness.advance(RUN);
for (let tries = 0; tries < 100 && isUnderWay(result); tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, LEASE_MS));
  result = await harness.advance(RUN);
}
process.stdout.write(`${JSON.stringify({ outcomes, status: result.status, termination: result.termination?.kind })}\n`);
