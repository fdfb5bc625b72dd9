import { setTimeout as sleep } from "node:timers/promises";
import { beginDurable, type Database, type LoneClient } from "./database.ts";
import { failureKind } from "./postgres-error.ts";
import { lockTree, sequenceBatch } from "./sequence-records.ts";
import { createSession, inTransaction } from "./session.ts";

/** Pause between two batches while there is something to number. */
const BUSY_PAUSE_MS = 20;

/** Longest pause while there is nothing; it grows to this. */
const IDLE_PAUSE_MS_MAX = 320;

/** How often a process that is not the sequencer asks whether it may be. */
const CANDIDATE_PAUSE_MS = 500;

const FLUSH_TRIES_MAX = 5;

/** Numbers audit records: one process of all does it in the background, each does it when it must. */
export interface Sequencer {
  /** Resolves when every record that was committed before the call has its place. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export function createSequencer(database: Database): Sequencer {
  const stopping = new AbortController();
  const background = database.settings.sequencer ? runInBackground(database, stopping.signal) : Promise.resolve();
  return {
    flush: () => flush(database),
    stop: async () => {
      stopping.abort();
      await background;
    },
  };
}

async function flush(database: Database): Promise<void> {
  const { schema } = database.settings;
  const isPending = async (): Promise<boolean> => {
    const sql = `SELECT 1 AS pending FROM ${schema}.audit_pending LIMIT 1`;
    return (await database.read((session) => session.all(sql))).length > 0;
  };
  if (!(await isPending())) {
    return;
  }
  for (let tries = 0; ; ) {
    try {
      const count = await database.attempt(lockTree(schema), (session, [row]) =>
        sequenceBatch(session, schema, row?.["frontier"]),
      );
      if (count === 0) {
        return;
      }
    } catch (error) {
      tries += 1;
      if (failureKind(error) === "final" || tries >= FLUSH_TRIES_MAX) {
        throw database.translate(error);
      }
      await sleep(BUSY_PAUSE_MS * tries);
    }
  }
}

/** Becomes the sequencer when nobody else is, and after a failure tries again; never throws. */
async function runInBackground(database: Database, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    let client: LoneClient | undefined;
    try {
      client = await database.connectAlone();
      await waitForOffice(database, client, signal);
      await serve(database, client, signal);
    } catch {
      // Nothing is lost: the records wait, and whoever reads the log numbers them.
    } finally {
      await client?.end().catch(() => undefined);
    }
    await pause(CANDIDATE_PAUSE_MS, signal);
  }
}

/** A lock of the session: the server gives it to another when this process is gone, however it went. */
async function waitForOffice(database: Database, client: LoneClient, signal: AbortSignal): Promise<void> {
  const session = createSession(asPooled(client));
  const sql = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS held";
  while (!signal.aborted) {
    const [row] = await session.all(sql, `belay sequencer ${database.settings.schema}`);
    if (row?.["held"] === true) {
      return;
    }
    await pause(CANDIDATE_PAUSE_MS * (0.5 + Math.random()), signal);
  }
}

async function serve(database: Database, client: LoneClient, signal: AbortSignal): Promise<void> {
  const { schema, lockTimeoutMs } = database.settings;
  const session = createSession(asPooled(client));
  const begin = beginDurable(lockTimeoutMs);
  let pauseMs = BUSY_PAUSE_MS;
  while (!signal.aborted) {
    const pending = await session.all(`SELECT 1 AS pending FROM ${schema}.audit_pending LIMIT 1`);
    if (pending.length > 0) {
      await inTransaction(asPooled(client), begin, lockTree(schema), (own, [row]) =>
        sequenceBatch(own, schema, row?.["frontier"]),
      );
      pauseMs = BUSY_PAUSE_MS;
    } else {
      pauseMs = Math.min(pauseMs * 2, IDLE_PAUSE_MS_MAX);
    }
    await pause(pauseMs, signal);
  }
}

function asPooled(client: LoneClient): LoneClient & { release(): void } {
  return Object.assign(client, { release: () => undefined });
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
