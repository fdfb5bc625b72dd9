/**
 * `node --expose-gc bench/recovery.ts [paused] [running]` after a build: how long recovery takes, and what runs cost
 * that wait for people.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createHarness,
  defineAgent,
  defineTool,
  type Entry,
  type Harness,
  type ModelClient,
  type Store,
} from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { z } from "zod";
import { line } from "./support.ts";

const TENANT = "default";
const AT_ONCE = 256;

const pay = defineTool({
  name: "pay",
  description: "Pays",
  level: "write",
  recovery: "keyed",
  input: z.strictObject({ cents: z.number() }),
  execute: ({ cents }) => ({ cents }),
});

const agent = defineAgent({
  name: "bench",
  revision: "1",
  instructions: "Pay.",
  tools: [pay],
  rules: [{ id: "ask", decide: () => ({ verdict: "ask", code: "LARGE", reason: "a person decides" }) }],
  approval: { ttlMs: 7 * 86_400_000 },
});

const usage = { inputTokens: 10, outputTokens: 10 };
const asking: ModelClient = {
  id: "bench",
  generate: async () => ({ kind: "calls", text: "", calls: [{ tool: "pay", args: { json: { cents: 5 } } }], usage }),
};
const answering: ModelClient = { id: "bench", generate: async () => ({ kind: "final", text: "done", usage }) };

/** Copies of one run's journal, written as they are; `pauses`: with the note that a worker leaves beside a question. */
async function copyRuns(
  store: Store,
  entries: readonly Entry[],
  { name, count, pauses }: { readonly name: string; readonly count: number; readonly pauses: boolean },
): Promise<void> {
  const copy = async (index: number): Promise<void> => {
    const run = { tenant: TENANT, runId: `${name}${String(index).padStart(7, "0")}` };
    const approvalId = `apr_${run.runId}`;
    const own = entries.map(({ at, event }) => ({
      at,
      event: event.type === "approval.requested" ? { ...event, approvalId } : event,
    }));
    await store.commit({ run, head: 0, entries: own });
    if (!pauses) return;
    await store.acquireLease(run, "bench", 1000, Date.now());
    await store.releaseLease(run, "bench", { head: own.length, until: expiryOf(own) });
  };
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - done) }, (_, at) => copy(done + at)));
  }
}

function expiryOf(entries: readonly Entry[]): number {
  return Math.min(...entries.flatMap(({ event }) => (event.type === "approval.requested" ? event.expiresAt : [])));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
}

async function measure(store: Store, harness: Harness, name: string): Promise<void> {
  const before = heapMb();
  let count = 0;
  const seconds = await timed(async () => {
    count = await harness.recover();
  });
  line(`${name}: recover(), ${count} runs looked at`, `${seconds.toFixed(2)} s`);
  let working: Awaited<ReturnType<Harness["work"]>> | undefined;
  const ready = await timed(async () => {
    working = await harness.work();
  });
  line("  work() is ready, with the waker of the process", `${(ready * 1000).toFixed(1)} ms`);
  const waiting = await store.unfinished(1);
  line("  heap that is kept for the waiting runs", `${(heapMb() - before).toFixed(2)} MB`, `${waiting.length} waits`);
  await working?.close();
}

export async function benchRecovery(paused = 10_000, running = 1000): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"));
  try {
    const store = await openSqliteStore(join(folder, "belay.db"), { clockToleranceMs: 86_400_000 });
    const asked = await createHarness({ agent, model: asking, store }).run("pay").result;
    const question = await store.read(asked);
    const started = question.slice(0, 1);
    const build = await timed(async () => {
      await copyRuns(store, question, { name: "w", count: paused, pauses: true });
      await copyRuns(store, started, { name: "r", count: running, pauses: false });
    });
    line(`a store with ${paused} paused and ${running} running runs is built`, `${build.toFixed(1)} s`);
    const harness = createHarness({ agent, model: answering, store });
    await measure(store, harness, `${paused} paused, ${running} running`);
    await measure(store, harness, `${paused} paused, none running`);
    // As a program of before left them: every run is read once to find that it waits.
    await copyRuns(store, question, { name: "x", count: Math.min(paused, 10_000), pauses: false });
    await measure(store, harness, `${Math.min(paused, 10_000)} waiting runs without a note of their pause`);
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [paused, running] = process.argv.slice(2).map(Number);
  await benchRecovery(paused, running);
}
