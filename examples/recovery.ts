/**
 * A process is killed (SIGKILL) after a payment and before its record. What a new process does depends on the tool's
 * recovery class. The "bank" is a SQLite file that knows what was paid under which key.
 */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import {
  allow,
  createHarness,
  defineRule,
  defineTool,
  type Harness,
  type ModelReply,
  type RecoveryClass,
} from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { scriptedModel } from "belay-harness/testing";
import { z } from "zod";

const RUN = { tenant: "default", runId: "run_payment" };
const PAY: ModelReply = { kind: "calls", text: "", calls: [{ tool: "pay", args: { json: { cents: 700 } } }] };
const ANSWER: ModelReply = { kind: "final", text: "Paid." };

function openBank(file: string) {
  const bank = new DatabaseSync(file);
  bank.exec("CREATE TABLE IF NOT EXISTS payments (key TEXT, cents INTEGER NOT NULL)");
  const receiptOf = (key: string) => {
    const row = bank.prepare("SELECT cents FROM payments WHERE key = ?").get(key);
    return row && { receipt: key, cents: Number(row["cents"]) };
  };
  return {
    receiptOf,
    /** Drops a second payment under the same key, as a payment provider with idempotency keys does. */
    pay: (key: string, cents: number) => {
      if (receiptOf(key) === undefined) bank.prepare("INSERT INTO payments VALUES (?, ?)").run(key, cents);
    },
    payments: () => Number(bank.prepare("SELECT count(*) AS n FROM payments").get()?.["n"]),
    close: () => bank.close(),
  };
}

function payTool(bank: ReturnType<typeof openBank>, recovery: Exclude<RecoveryClass, "read">, afterEffect: Hook) {
  return defineTool({
    name: "pay",
    description: "Pay an amount",
    level: "write",
    recovery,
    timeoutMs: 2000,
    input: z.strictObject({ cents: z.int().positive() }),
    execute: async ({ cents }, { idempotencyKey, attempt }) => {
      bank.pay(idempotencyKey, cents);
      await afterEffect(attempt);
      return bank.receiptOf(idempotencyKey);
    },
    // Asked for `queryable` tools: `undefined` means that it did not happen.
    lookup: (_args, { idempotencyKey }) => bank.receiptOf(idempotencyKey),
  });
}

type Hook = (attempt: number) => Promise<void>;

async function openDesk(folder: string, recovery: Exclude<RecoveryClass, "read">, replies: ModelReply[], hook: Hook) {
  const store = await openSqliteStore(join(folder, "belay.db"));
  const bank = openBank(join(folder, "bank.db"));
  const agent = {
    ...{ name: "payer", revision: "1", instructions: "Pay.", tools: [payTool(bank, recovery, hook)] },
    rules: [defineRule({ id: "all", decide: () => allow("OK", "an example") })],
  };
  // A silent worker may be replaced after this time; the default is 15 seconds.
  const harness = createHarness({ agent, model: scriptedModel(replies), store, leaseMs: 500 });
  return { store, bank, harness };
}

/** The process that dies: it pays, says so, and never gets to write the outcome down. */
async function worker(folder: string, recovery: Exclude<RecoveryClass, "read">): Promise<void> {
  const { harness } = await openDesk(folder, recovery, [PAY, ANSWER], async () => {
    process.send?.("paid");
    await new Promise(() => setInterval(() => undefined, 1000));
  });
  await harness.run("Pay 7.00", { runId: RUN.runId }).result;
}

/** Goes on with the run until it ends: first the dead worker's lease must run out, then a lookup may have to wait. */
async function advanceToEnd(harness: Harness): Promise<Awaited<ReturnType<Harness["advance"]>>> {
  for (;;) {
    const result = await harness.advance(RUN);
    if (result.termination !== undefined) return result;
    await sleep(100);
  }
}

async function killAndRecover(recovery: Exclude<RecoveryClass, "read">): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "belay-recovery-"));
  try {
    const child = fork(import.meta.filename, [folder, recovery]);
    await new Promise((resolve) => child.once("message", resolve));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const { store, bank, harness } = await openDesk(folder, recovery, [ANSWER], async () => undefined);
    const { label, calls } = await advanceToEnd(harness);
    const line = `${recovery}: ${label}, attempts ${calls[0]?.attempt}, payments ${bank.payments()}`;
    bank.close();
    await store.close();
    return line;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [folder, recovery] = process.argv.slice(2);
if (folder !== undefined) {
  await worker(folder, recovery as Exclude<RecoveryClass, "read">);
} else {
  const lines = [await killAndRecover("keyed"), await killAndRecover("queryable"), await killAndRecover("opaque")];
  assert.deepEqual(lines, [
    "keyed: completed, attempts 2, payments 1",
    "queryable: completed, attempts 1, payments 1",
    "opaque: outcome_unknown, attempts 1, payments 1",
  ]);
  process.stdout.write(`${lines.join("\n")}\n`);
}
