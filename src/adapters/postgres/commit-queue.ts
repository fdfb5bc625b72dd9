import { setTimeout as sleep } from "node:timers/promises";
import type { CommitResult, PreparedCommit } from "../../journal/index.ts";
import { commitBatch } from "./commit-batch.ts";
import type { CommitJob, JobOutcome } from "./commit-job.ts";
import type { Database } from "./database.ts";
import { commitUnknown, failureKind, UnansweredCommit } from "./postgres-error.ts";

/** Transactions of one process at a time; more only compete for its one thread. */
const LANES = 2;

const BATCH_JOBS_MAX = 64;
const BATCH_CHARACTERS_MAX = 4_000_000;

/** How often a commit is tried again: with contention somebody else gets on each time, without a server nobody does. */
const TRIES_MAX = { contention: 12, lost: 4 } as const;

const PAUSE_MS = { contention: 5, lost: 60 } as const;

/** Commits that arrive while others are being written share the next transaction. */
export interface CommitQueue {
  commit(commit: PreparedCommit): Promise<CommitResult>;
  /** Resolves when nothing is waiting any more. */
  idle(): Promise<void>;
}

export function createCommitQueue(database: Database): CommitQueue {
  const waiting: CommitJob[] = [];
  const lanes = new Set<Promise<void>>();
  const runLane = async (): Promise<void> => {
    // Those of the same turn of the event loop come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      await perform(database, takeBatch(waiting), false);
    }
  };
  const openLane = (): void => {
    if (lanes.size < Math.min(LANES, database.settings.max)) {
      const lane: Promise<void> = runLane().finally(() => lanes.delete(lane));
      lanes.add(lane);
    }
  };
  return {
    commit: (commit) =>
      new Promise<CommitResult>((resolve, reject) => {
        waiting.push({ commit, mayBeStored: false, resolve, reject });
        openLane();
      }),
    idle: async () => {
      while (lanes.size > 0) {
        await Promise.all(lanes);
      }
    },
  };
}

function takeBatch(waiting: CommitJob[]): readonly CommitJob[] {
  let characters = 0;
  const size = waiting.findIndex(({ commit }, index) => {
    characters += commit.entries.reduce((sum, { text }) => sum + text.length, 0);
    characters += commit.blobs.reduce((sum, [, text]) => sum + text.length, 0);
    return index >= BATCH_JOBS_MAX || (index > 0 && characters > BATCH_CHARACTERS_MAX);
  });
  return waiting.splice(0, size === -1 ? waiting.length : size);
}

/** Tries until each job is told something that is certain, or nothing certain can be found out. */
async function perform(database: Database, jobs: readonly CommitJob[], wasContended: boolean): Promise<void> {
  const tries = { contention: 0, lost: 0 };
  for (let isCareful = wasContended; ; ) {
    try {
      tellAll(jobs, await commitBatch(database, jobs, isCareful));
      return;
    } catch (error) {
      if (error instanceof UnansweredCommit) {
        markAsMaybeStored(jobs);
      }
      const kind = failureKind(error);
      if (kind === "contention" && jobs.length > 1) {
        await performOneByOne(database, jobs);
        return;
      }
      if (kind === "final" || tries[kind] >= TRIES_MAX[kind]) {
        rejectAll(database, jobs, error);
        return;
      }
      tries[kind] += 1;
      isCareful ||= kind === "contention";
      // Not in step with others that wait.
      await sleep(PAUSE_MS[kind] * tries[kind] * (0.5 + Math.random()));
    }
  }
}

function tellAll(jobs: readonly CommitJob[], outcomes: readonly JobOutcome[]): void {
  for (const [index, outcome] of outcomes.entries()) {
    const job = jobs[index];
    if (outcome.status === "told") {
      job?.resolve(outcome.result);
    } else {
      job?.reject(outcome.error);
    }
  }
}

/** Whoever is in the way of one commit must not hold up those that came with it. */
async function performOneByOne(database: Database, jobs: readonly CommitJob[]): Promise<void> {
  for (const job of jobs) {
    await perform(database, [job], true);
  }
}

function markAsMaybeStored(jobs: readonly CommitJob[]): void {
  for (const job of jobs) {
    job.mayBeStored = true;
  }
}

function rejectAll(database: Database, jobs: readonly CommitJob[], error: unknown): void {
  for (const job of jobs) {
    job.reject(job.mayBeStored ? commitUnknown(database.settings.label, error) : database.translate(error));
  }
}
