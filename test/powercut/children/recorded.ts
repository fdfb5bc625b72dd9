/** The recorded process: `recorded.ts <path of the store> <path of the record> <mutant>`; prints acknowledgements. */
import { hash } from "node:crypto";
import { statSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { createSqliteWaker, openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { decodeFrontier, rootOf } from "../../../src/audit/index.ts";
import {
  createHarness,
  defineAgent,
  defineTool,
  type Harness,
  type ModelClient,
  type Store,
} from "../../../src/index.ts";
import { encodeEvent } from "../../../src/journal/index.ts";
import type { Mutant } from "../protocol.ts";

const [path = "", record = "", mutant] = process.argv.slice(2) as [string, string, Mutant];
const ROUNDS = 7;
const DANA = { kind: "person", id: "dana" } as const;

if (mutant === "normal") {
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    exec.call(this, sql.replace("synchronous = FULL", "synchronous = NORMAL"));
  };
}

// The recorder writes each entry in one call of this very thread, so the size is the place in the record.
function acknowledge(what: object): void {
  writeSync(1, `${JSON.stringify({ ...what, position: statSync(record).size })}\n`);
}

/** Says of each commit that it is kept, as soon as the store says so. */
function acknowledging(inner: Store): Store {
  return {
    ...inner,
    commit: async (commit) => {
      const hashes = commit.entries.map(({ event }) => hash("sha256", encodeEvent(commit.run, event)));
      const committed = { kind: "commit", ...commit.run, head: commit.head + hashes.length, hashes };
      if (mutant === "early") acknowledge(committed);
      const result = await inner.commit(commit);
      if (result.status === "committed") {
        if (mutant !== "early") acknowledge(committed);
        const frontier = decodeFrontier(await inner.audit.frontier());
        acknowledge({ kind: "root", size: frontier.size, root: rootOf(frontier) });
      }
      return result;
    },
  };
}

const pay = defineTool({
  name: "pay",
  description: "Pays",
  level: "write",
  recovery: "keyed",
  input: z.strictObject({ cents: z.number(), note: z.string() }),
  execute: ({ cents, note }, { idempotencyKey }) => {
    acknowledge({ kind: "effect", idempotencyKey });
    // Every sixth answer is large enough to be a blob.
    return { cents, text: note.repeat(cents % 6 === 0 ? 20_000 : 1) };
  },
});

const usage = { inputTokens: 10, outputTokens: 10 };

/** Asks for three payments, the last of which needs a person, and is done. */
const model: ModelClient = {
  id: "paying",
  generate: async ({ messages }) => {
    const made = messages.filter(({ role }) => role === "tool").length;
    if (made >= 3) return { kind: "final", text: "paid", usage };
    const call = (cents: number) => ({ tool: "pay", args: { json: { cents, note: `${messages.length}-` } } });
    return { kind: "calls", text: "", calls: made === 0 ? [call(6), call(7)] : [call(5000)], usage };
  },
};

const agent = defineAgent({
  name: "payer",
  revision: "1",
  instructions: "Pay.",
  tools: [pay],
  rules: [
    {
      id: "large",
      decide: (call) => {
        const isLarge = (call.args as { cents: number }).cents > 1000;
        return { verdict: isLarge ? "ask" : "allow", code: isLarge ? "LARGE" : "OK", reason: "by amount" };
      },
    },
  ],
});

/** Several runs at once, so that commits share transactions; then people answer, and the runs end. */
async function round(harness: Harness, index: number): Promise<void> {
  const runs = Array.from({ length: 1 + (index % 3) }, (_, at) => harness.run("pay", { runId: `r${index}-${at}` }));
  const results = await Promise.all(runs.map(({ result }) => result));
  for (const { approvals } of results) {
    for (const { approvalId } of approvals) {
      const answer = index % 4 === 3 ? "rejected" : "approved";
      const { status } = await harness.decide({ approvalId, answer, by: DANA });
      if (status !== "recorded") throw new Error(`the decision was ${status}`);
    }
  }
  const ended = await Promise.all(results.map((run) => harness.advance(run)));
  if (ended.some(({ status }) => status !== "done")) throw new Error("a run did not end");
}

// The second half is written by a store that was opened on what the first has left.
for (const half of [0, 1]) {
  const opened = await openSqliteStore(path);
  const store = acknowledging(opened);
  const waker = createSqliteWaker(opened);
  const harness = createHarness({ agent, model, store, waker });
  for (let index = 0; index < ROUNDS; index += 1) await round(harness, half * ROUNDS + index);
  await opened.close();
}
