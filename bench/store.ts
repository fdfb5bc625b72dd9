import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Entry, Store } from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { createMemoryStore } from "belay-harness/store";
import { line, medianMicroseconds, microseconds } from "./support.ts";

const STARTED: Entry = {
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

let runs = 0;

/** Starts many runs, `width` at a time: each start is one commit with its projections and audit record. */
async function startRuns(store: Store, count: number, width: number): Promise<void> {
  for (let done = 0; done < count; done += width) {
    await Promise.all(
      Array.from({ length: width }, () => {
        runs += 1;
        return store.commit({ run: { tenant: "default", runId: `r${runs}` }, head: 0, entries: [STARTED] });
      }),
    );
  }
}

function bareInserts(database: DatabaseSync, count: number): void {
  const insert = database.prepare("insert into journal values (?, ?, ?)");
  const text = JSON.stringify(STARTED);
  for (let i = 0; i < count; i += 1) {
    runs += 1;
    database.exec("begin immediate");
    insert.run(`r${runs}`, 1, text);
    database.exec("commit");
  }
}

export async function benchStore(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"));
  try {
    const bare = new DatabaseSync(join(folder, "bare.db"));
    bare.exec(
      "pragma journal_mode=wal; pragma synchronous=full; create table journal(run, seq, event, primary key(run, seq))",
    );
    const memory = await medianMicroseconds(200, () => startRuns(createMemoryStore(), 200, 1));
    line("memory store, one commit with audit", microseconds(memory));
    const store = await openSqliteStore(join(folder, "belay.db"));
    const raw = await medianMicroseconds(100, () => bareInserts(bare, 100), { rounds: 5 });
    const one = await medianMicroseconds(100, () => startRuns(store, 100, 1), { rounds: 5 });
    const group = await medianMicroseconds(640, () => startRuns(store, 640, 64), { rounds: 5 });
    line("SQLite FULL, bare insert and commit", microseconds(raw));
    line("SQLite FULL, one commit with projections and audit", microseconds(one), `${(one / raw).toFixed(2)} × bare`);
    line("SQLite FULL, 64 commits in one group, per commit", microseconds(group), `${(group / raw).toFixed(2)} × bare`);
    await store.close();
    bare.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
