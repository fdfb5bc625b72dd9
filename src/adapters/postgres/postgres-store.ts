import {
  checkBlob,
  createListeners,
  decodeLine,
  type PreparedCommit,
  prepareCommit,
  type Store,
  toJournalLine,
} from "../../journal/index.ts";
import { createCommitQueue } from "./commit-queue.ts";
import { createDatabase, type Database } from "./database.ts";
import { registerDatabase } from "./database-of.ts";
import { loadPeer } from "./load-peer.ts";
import { type PostgresStoreOptions, settingsOf } from "./options.ts";
import { createPostgresAudit } from "./postgres-audit.ts";
import { acquireLease, releaseLease } from "./postgres-leases.ts";
import {
  queryApproval,
  queryApprovals,
  queryBudget,
  queryConversation,
  queryRun,
  queryRuns,
  queryUnfinished,
} from "./postgres-queries.ts";
import { createPostgresRetention } from "./postgres-retention.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { linesOf } from "./project-job.ts";
import { createSequencer } from "./sequencer.ts";
import type { Session } from "./session.ts";
import { columnsOf, JOURNAL } from "./tables.ts";

/**
 * Opens a store in a schema of a PostgreSQL database (15 or newer), and creates its tables when they are not there.
 *
 * Any number of processes on any number of machines may use one schema. A commit is on the server's disk when its
 * promise resolves. Throws `BELAY_PEER_MISSING` without the package `pg`, `BELAY_STORE_PATH`, `BELAY_STORE_UNAVAILABLE`, `BELAY_STORE_POSTGRES_OLD`,
 * `BELAY_STORE_POSTGRES_UNSAFE` (`fsync = off`), `BELAY_STORE_FOREIGN` (another program's schema),
 * `BELAY_STORE_TOO_NEW` and `BELAY_STORE_READ_ONLY`; methods also throw `BELAY_STORE_LOCKED` (after `lockTimeoutMs`),
 * `BELAY_STORE_FULL`, `BELAY_STORE_CORRUPT`, `BELAY_STORE_FAILED`, and `commit` throws `BELAY_STORE_COMMIT_UNKNOWN`
 * when the server stopped answering and it could not be found out whether the commit was kept.
 *
 * Needs a connection of its own for each session: a proxy that pools transactions (pgbouncer's mode `transaction`)
 * cannot stand between.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const settings = settingsOf(options);
  const { default: driver } = await loadPeer("A store in PostgreSQL", () => import("pg"));
  const database = createDatabase(settings, driver);
  try {
    await prepareDatabase(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const store = createStore(database);
  registerDatabase(store, database);
  return store;
}

function createStore(database: Database): Store {
  const { schema } = database.settings;
  const queue = createCommitQueue(database);
  const sequencer = createSequencer(database);
  const listeners = createListeners();
  const reading = <Value>(work: (session: Session) => Promise<Value>): Promise<Value> => database.read(work);
  const close = () => database.close(() => Promise.all([queue.idle(), sequencer.stop()]));
  return {
    kind: "postgres",
    commit: async (commit) => {
      database.open();
      const prepared: PreparedCommit = prepareCommit(commit);
      const result = await queue.commit(prepared);
      if (result.status === "committed") {
        listeners.notify(prepared.run, linesOf(prepared));
      }
      return result;
    },
    read: (run, after = 0) =>
      reading(async (session) => {
        const sql = `SELECT ${columnsOf(JOURNAL)} FROM ${schema}.journal
          WHERE tenant = $1 AND run_id = $2 AND seq > $3 ORDER BY seq`;
        return (await session.all(sql, run.tenant, run.runId, after)).map(toJournalLine).map(decodeLine);
      }),
    blob: (sha256) =>
      reading(async (session) => {
        const [row] = await session.all(`SELECT text FROM ${schema}.blobs WHERE sha256 = $1`, sha256);
        return checkBlob(sha256, row === undefined ? undefined : String(row["text"]));
      }),
    run: (run) => reading((session) => queryRun(session, schema, run)),
    runs: (query) => reading((session) => queryRuns(session, schema, query)),
    unfinished: (limit, after, now) => reading((session) => queryUnfinished(session, schema, limit, after, now)),
    approval: (tenant, approvalId) => reading((session) => queryApproval(session, schema, tenant, approvalId)),
    approvals: (query) => reading((session) => queryApprovals(session, schema, query)),
    budget: (tenant, budget) => reading((session) => queryBudget(session, schema, tenant, budget)),
    conversation: (tenant, conversationId) =>
      reading((session) => queryConversation(session, schema, tenant, conversationId)),
    acquireLease: (run, owner, ttlMs, now) => acquireLease(database, run, { owner, ttlMs, now }),
    releaseLease: (run, owner, pause) => releaseLease(database, run, owner, pause),
    audit: createPostgresAudit(database, sequencer),
    retention: createPostgresRetention(database, sequencer),
    subscribe: (listener) => {
      database.open();
      return listeners.add(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
