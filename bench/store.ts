/** `node bench/store.ts` after a build: what a commit costs, beside a bare insert and commit on the same disk. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Entry, Store } from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { createMemoryStore } from "belay-harness/store";
import { line, medianMicroseconds, microseconds } from "./support.ts";

const ROUNDS = 1500;
const WARM_UP = 200;
const GROUP = 64;

export const STARTED: Entry = {
  at: 1,
  event: {
    type: "run.started",
    agent: { name: "bench", revision: "1", policyHash: "0" },
    tenant: "default",
    principal: { kind: "system", id: "bench" },
    conversationId: "cnv",
    input: "hello",
    limits: { stepsMax: 8, replyTokensMax: 1, unreadableRepliesMax: 2, callsPerTurnMax: 8 },
    onReject: "tell_model",
    onExpiry: "tell_model",
    onWorldChanged: "tell_model",
  },
};

const REPLIED: Entry = {
  at: 1,
  event: {
    type: "model.replied",
    output: {
      kind: "calls",
      text: "",
      calls: [{ callId: "c1.1", tool: "refund", args: { order: "O-1005", amount: 400_000 }, effect: "change" }],
    },
    usage: { inputTokens: 100, outputTokens: 20 },
  },
};

let runs = 0;

function nextRun(): { readonly tenant: string; readonly runId: string } {
  runs += 1;
  return { tenant: "default", runId: `r${runs}` };
}

async function startRuns(store: Store, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => store.commit({ run: nextRun(), head: 0, entries: [STARTED] })));
}

/** A row as long as an event with its audit record, in one table, under the same promises. */
function openBare(path: string): { insert(): void; close(): void } {
  const database = new DatabaseSync(path);
  database.exec(
    "pragma journal_mode=wal; pragma synchronous=full; create table journal(run, seq, event, primary key(run, seq))",
  );
  const [begin, insert, commit] = ["begin immediate", "insert into journal values (?, 1, ?)", "commit"].map((sql) =>
    database.prepare(sql),
  );
  const text = "x".repeat(2 * JSON.stringify(STARTED).length);
  return {
    insert: () => {
      begin?.run();
      insert?.run(nextRun().runId, text);
      commit?.run();
    },
    close: () => database.close(),
  };
}

/** Times of single operations, taken in turn so that whatever else the machine does meets all of them alike. */
async function inTurn(work: Readonly<Record<string, () => unknown>>): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(Object.keys(work).map((name) => [name, []]));
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [name, run] of Object.entries(work)) {
      const start = performance.now();
      await run();
      if (round >= 0) times.get(name)?.push((performance.now() - start) * 1000);
    }
  }
  return times;
}

async function benchFolder(parent: string): Promise<void> {
  const folder = mkdtempSync(join(parent, "belay-bench-"));
  try {
    const bare = openBare(join(folder, "bare.db"));
    const store = await openSqliteStore(join(folder, "belay.db"));
    let run = nextRun();
    const times = await inTurn({
      "bare insert and commit": bare.insert,
      "start of a run, with projections and audit": () => {
        run = nextRun();
        return store.commit({ run, head: 0, entries: [STARTED] });
      },
      "an event of a run, with projections and audit": () => store.commit({ run, head: 1, entries: [REPLIED] }),
    });
    await startRuns(store, GROUP);
    const group = await medianMicroseconds(GROUP, () => startRuns(store, GROUP), { rounds: 9 });
    printTimes(times, group);
    await store.close();
    bare.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function printTimes(times: ReadonlyMap<string, number[]>, group: number): void {
  const [bare = []] = times.values();
  for (const [name, values] of times) {
    const [middle, average] = [median(values), mean(values)];
    const ratios = `${(middle / median(bare)).toFixed(2)} × bare`;
    const means = `mean ${microseconds(average)}, ${(average / mean(bare)).toFixed(2)} × bare`;
    line(`  ${name}`, microseconds(middle), values === bare ? `mean ${microseconds(average)}` : `${ratios}; ${means}`);
  }
  line(
    `  ${GROUP} commits in one group, per commit`,
    microseconds(group),
    `${(group / median(bare)).toFixed(2)} × bare`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// As Linux numbers it.
const TMPFS = 0x01021994;

function kindOf(folder: string): string {
  return statfsSync(folder).type === TMPFS ? "tmpfs" : "disk";
}

export async function benchStore(): Promise<void> {
  const memory = await medianMicroseconds(200, async () => {
    const store = createMemoryStore();
    for (let i = 0; i < 200; i += 1) await store.commit({ run: nextRun(), head: 0, entries: [STARTED] });
  });
  line("memory store, one commit with audit", microseconds(memory));
  for (const parent of [tmpdir(), "/dev/shm"].filter((folder) => existsSync(folder))) {
    line(`SQLite, WAL, synchronous=FULL, on ${kindOf(parent)} (${parent}); medians`, "");
    await benchFolder(parent);
  }
}

if (process.argv[1] === import.meta.filename) await benchStore();
