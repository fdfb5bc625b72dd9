import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isBusy } from "./sqlite-error.ts";
import { waitForLock } from "./wait-for-lock.ts";

export interface WriteQueueOptions<Session> {
  readonly database: DatabaseSync;
  /** How long a write may wait for company; 0: until the end of this turn of the event loop. */
  readonly groupCommitMs: number;
  readonly lockTimeoutMs: number;
  /** Begins what the jobs of one transaction share. */
  readonly begin: () => Session;
  /** Writes it down, just before the transaction is committed. */
  readonly finish: (session: Session) => void;
  readonly translate: (error: unknown) => unknown;
}

/** Writes that arrive together share one transaction, which is one wait for the disk. */
export interface WriteQueue<Session> {
  /** Resolves after the common commit. A job that throws takes back only itself; a failed commit rejects all. */
  write<Value>(work: (session: Session) => Value): Promise<Value>;
  /** Resolves when nothing is waiting any more. */
  idle(): Promise<void>;
}

interface Job<Session> {
  readonly work: (session: Session) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Creates the queue of a connection; the only place that begins a transaction on it to write. */
export function createWriteQueue<Session>(options: WriteQueueOptions<Session>): WriteQueue<Session> {
  const waiting: Job<Session>[] = [];
  // Run for every job, so they are compiled once.
  const [begin, commit, savepoint, release] = (
    ["BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT job", "RELEASE job"] as const
  ).map((sql) => options.database.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync];
  let flushing: Promise<void> | undefined;

  const flush = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gather(options.groupCommitMs);
      try {
        await waitForLock(() => begin.run(), isBusy, options.lockTimeoutMs);
      } catch (error) {
        rejectAll(waiting.splice(0), options.translate(error));
        continue;
      }
      runGroup({ ...options, commit, savepoint, release }, waiting.splice(0));
    }
    flushing = undefined;
  };

  return {
    write: <Value>(work: (session: Session) => Value) =>
      new Promise<Value>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        flushing ??= flush();
      }),
    idle: async () => {
      await flushing;
    },
  };
}

function gather(groupCommitMs: number): Promise<void> {
  return new Promise((resolve) => {
    if (groupCommitMs > 0) {
      setTimeout(resolve, groupCommitMs);
    } else {
      setImmediate(resolve);
    }
  });
}

interface GroupOptions<Session> extends WriteQueueOptions<Session> {
  readonly commit: StatementSync;
  readonly savepoint: StatementSync;
  readonly release: StatementSync;
}

function runGroup<Session>(options: GroupOptions<Session>, jobs: readonly Job<Session>[]): void {
  const { database, commit, translate } = options;
  const [only, ...others] = jobs;
  if (only !== undefined && others.length === 0) {
    runAlone(options, only);
    return;
  }
  const open = new Set(jobs);
  const values = new Map<Job<Session>, unknown>();
  try {
    const session = options.begin();
    for (const job of jobs) {
      const failure = runJob(options, job, session, values);
      if (failure !== undefined) {
        open.delete(job);
        job.reject(translate(failure.error));
      }
    }
    options.finish(session);
    commit.run();
  } catch (error) {
    rollBack(database);
    rejectAll(open, translate(error));
    return;
  }
  for (const job of open) {
    job.resolve(values.get(job));
  }
}

/** A job without company needs no savepoint: what it wrote is the whole transaction. */
function runAlone<Session>(options: GroupOptions<Session>, job: Job<Session>): void {
  let value: unknown;
  try {
    const session = options.begin();
    value = job.work(session);
    options.finish(session);
    options.commit.run();
  } catch (error) {
    rollBack(options.database);
    job.reject(options.translate(error));
    return;
  }
  job.resolve(value);
}

/** Runs a job under a savepoint of its own; throws only when the whole transaction is lost. */
function runJob<Session>(
  { database, savepoint, release }: GroupOptions<Session>,
  job: Job<Session>,
  session: Session,
  values: Map<Job<Session>, unknown>,
): { readonly error: unknown } | undefined {
  savepoint.run();
  try {
    values.set(job, job.work(session));
    release.run();
    return undefined;
  } catch (error) {
    if (!database.isTransaction) {
      // A full disk or a failed write has already taken back everything.
      throw error;
    }
    database.exec("ROLLBACK TO job; RELEASE job");
    return { error };
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    if (database.isTransaction) {
      database.exec("ROLLBACK");
    }
  } catch {
    // The first error says more; an unfinished transaction is taken back when the file is next opened.
  }
}

function rejectAll<Session>(jobs: Iterable<Job<Session>>, reason: unknown): void {
  for (const job of jobs) {
    job.reject(reason);
  }
}
