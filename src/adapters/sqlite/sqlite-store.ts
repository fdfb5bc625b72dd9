import {
  CLOCK_TOLERANCE_MS,
  checkBlob,
  createListeners,
  decodeLine,
  type JournalLine,
  type PreparedCommit,
  prepareCommit,
  type Store,
  toJournalLine,
} from "../../journal/index.ts";
import { createSqliteView } from "./projection-tables.ts";
import { createSqliteAudit } from "./sqlite-audit.ts";
import { openHandle, registerHandle, type SqliteHandle } from "./sqlite-handle.ts";
import { acquireLease, releaseLease } from "./sqlite-leases.ts";
import { queryApprovals, queryConversation, queryRuns, queryUnfinished } from "./sqlite-queries.ts";
import { createSqliteRetention } from "./sqlite-retention.ts";
import { writeCommit } from "./write-commit.ts";

export interface SqliteStoreOptions {
  /** How long a commit waits for others to share one disk write with. Default 0: the same turn of the event loop. */
  readonly groupCommitMs?: number;
  /** How much older than the newest entry of the store a commit may be. Default 60,000. */
  readonly clockToleranceMs?: number;
  /** How long to wait while another program holds the file. Default 5,000. */
  readonly lockTimeoutMs?: number;
}

/**
 * Opens a store in a SQLite file, and creates the file when it is not there. `:memory:` keeps it in memory.
 *
 * A commit is on the disk when its promise resolves (WAL, `synchronous=FULL`). Several processes of one machine may
 * use one file. Throws `BELAY_STORE_PATH`, `BELAY_STORE_NETWORK_FS`, `BELAY_STORE_SQLITE_OLD`, `BELAY_STORE_FOREIGN`
 * (another program's database), `BELAY_STORE_TOO_NEW`, `BELAY_STORE_TOO_OLD`, `BELAY_STORE_CORRUPT`, `BELAY_STORE_READ_ONLY`,
 * `BELAY_STORE_LOCKED` (after `lockTimeoutMs`), `BELAY_STORE_FULL` and `BELAY_STORE_FAILED`, here and from its methods.
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const handle = await openHandle(path, options);
  const store = createSqliteStore(handle, options.clockToleranceMs ?? CLOCK_TOLERANCE_MS);
  registerHandle(store, handle);
  return store;
}

function createSqliteStore(handle: SqliteHandle, clockToleranceMs: number): Store {
  const view = createSqliteView(handle);
  const listeners = createListeners();
  const reading = async <Value>(work: () => Value): Promise<Value> => handle.read(work);
  return {
    kind: "sqlite",
    commit: async (commit) => {
      const prepared = prepareCommit(commit);
      const result = await handle.write((session) => writeCommit(handle, view, session, prepared, clockToleranceMs));
      if (result.status === "committed") {
        listeners.notify(prepared.run, storedLines(prepared));
      }
      return result;
    },
    read: (run, after = 0) =>
      reading(() =>
        handle
          .all(
            "SELECT * FROM journal WHERE tenant = ? AND run_id = ? AND seq > ? ORDER BY seq",
            run.tenant,
            run.runId,
            after,
          )
          .map((row) => decodeLine(toJournalLine(row))),
      ),
    blob: (sha256) =>
      reading(() => {
        const text = handle.get("SELECT text FROM blobs WHERE sha256 = ?", sha256)?.["text"];
        return checkBlob(sha256, text === undefined ? undefined : String(text));
      }),
    run: (run) => reading(() => view.run(run)?.row),
    runs: (query) => reading(() => queryRuns(handle, query)),
    unfinished: (limit, after, now) => reading(() => queryUnfinished(handle, limit, after, now)),
    approval: (tenant, approvalId) => reading(() => view.approval(tenant, approvalId)),
    approvals: (query) => reading(() => queryApprovals(handle, query)),
    budget: (tenant, budget) => reading(() => view.budget(tenant, budget)),
    conversation: (tenant, conversationId) => reading(() => queryConversation(handle, tenant, conversationId)),
    acquireLease: (run, owner, ttlMs, now) => handle.write(() => acquireLease(handle, run, { owner, ttlMs, now })),
    releaseLease: (run, owner, pause) => handle.write(() => releaseLease(handle, run, owner, pause)),
    audit: createSqliteAudit(handle),
    retention: createSqliteRetention(handle, view, clockToleranceMs),
    subscribe: (listener) => handle.read(() => listeners.add(listener)),
    close: () => handle.close(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function storedLines({ run, head, entries }: PreparedCommit): readonly JournalLine[] {
  return entries.map(({ at, schema, text }, index) => ({ run, seq: head + index + 1, at, schema, text }));
}
