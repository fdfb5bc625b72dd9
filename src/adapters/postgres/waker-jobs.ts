import type { JobWithMetadata, PgBoss } from "pg-boss";
import type { Wake } from "../../engine/index.ts";
import type { RunKey } from "../../journal/index.ts";
import { LATER_QUEUE, WAKE_QUEUE } from "./waker-boss.ts";
import { jobIdOf } from "./waker-job-id.ts";

/** A wake that this process has taken. `attempts` counts this delivery too. */
export interface TakenWake {
  readonly wake: Wake;
  readonly attempts: number;
  readonly job: { readonly id: string; readonly retryCount: number };
}

// Each round ends unless somebody else takes, ends or sends the same wake between two statements of it.
const ROUNDS_MAX = 20;
const LATER_MS = 60_000;
const MOVED_AT_ONCE = 100;

/**
 * Stores a wake. One of the same key that waits stands for both; one that is being delivered does not, since what
 * this one says may be new.
 */
export async function sendWake(boss: PgBoss, wake: Wake, now: number): Promise<void> {
  const queue = (wake.notBefore ?? now) - now > LATER_MS ? LATER_QUEUE : WAKE_QUEUE;
  const { run, why, key, notBefore } = wake;
  const data = { tenant: run.tenant, runId: run.runId, why, key, ...(notBefore === undefined ? {} : { notBefore }) };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const slot of [0, 1] as const) {
      const id = jobIdOf(wake, slot);
      const sent = await boss.send(queue, data, {
        id,
        singletonKey: runName(run),
        ...(notBefore === undefined ? {} : { startAfter: new Date(Math.ceil(notBefore)) }),
      });
      if (sent !== null || (await isWaiting(boss, queue, id))) return;
    }
  }
  throw new Error(`the wake ${key} changed hands ${ROUNDS_MAX} times while it was sent`);
}

async function isWaiting(boss: PgBoss, queue: string, id: string): Promise<boolean> {
  const [job] = await boss.findJobs(queue, { id });
  return job?.state === "created" || job?.state === "retry";
}

/** Moves what was sent for a later day and is due now; who dies in between leaves it in one of the two or in both. */
export async function moveDueWakes(boss: PgBoss): Promise<number> {
  let moved = 0;
  for (;;) {
    const options = { batchSize: MOVED_AT_ONCE, includeMetadata: true } as const;
    const jobs = (await boss.fetch<WakeData>(LATER_QUEUE, options)).map(takenOf);
    for (const { wake } of jobs) await sendWake(boss, wake, Number.POSITIVE_INFINITY);
    if (jobs.length > 0) {
      await boss.deleteJob(
        LATER_QUEUE,
        jobs.map(({ job }) => job),
      );
    }
    moved += jobs.length;
    if (jobs.length < MOVED_AT_ONCE) return moved;
  }
}

/** Takes up to `count` due wakes, at most one of each run and none of a run that somebody is working on. */
export async function takeWakes(boss: PgBoss, count: number): Promise<readonly TakenWake[]> {
  const jobs = await boss.fetch<WakeData>(WAKE_QUEUE, { batchSize: count, includeMetadata: true });
  return jobs.map(takenOf);
}

/** Tells the others that these are still being worked on. */
export async function keepWakes(boss: PgBoss, taken: readonly TakenWake[]): Promise<void> {
  await boss.touch(
    WAKE_QUEUE,
    taken.map(({ job }) => job),
  );
}

/** Delivered wakes are gone, and their keys are free. One that somebody else has meanwhile is left alone. */
export async function finishWakes(boss: PgBoss, taken: readonly TakenWake[]): Promise<void> {
  await boss.deleteJob(
    WAKE_QUEUE,
    taken.map(({ job }) => job),
  );
}

/** Gives a wake back, to be delivered again after `pauseMs`; in one transaction, so that nobody takes it before. */
export async function returnWake(boss: PgBoss, { job }: TakenWake, pauseMs: number): Promise<void> {
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) {
    await boss.fail(WAKE_QUEUE, job, null);
    return;
  }
  try {
    const { db } = transaction;
    await boss.fail(WAKE_QUEUE, job, null, { db });
    await boss.update(WAKE_QUEUE, undefined, { id: job.id, startAfter: Number((pauseMs / 1000).toFixed(3)), db });
    await transaction.commit();
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

interface WakeData {
  readonly tenant: string;
  readonly runId: string;
  readonly why: Wake["why"];
  readonly key: string;
  readonly notBefore?: number;
}

function takenOf({ id, retryCount, data }: JobWithMetadata<WakeData>): TakenWake {
  const { tenant, runId, why, key, notBefore } = data;
  return {
    wake: { run: { tenant, runId }, why, key, ...(notBefore === undefined ? {} : { notBefore }) },
    attempts: retryCount + 1,
    job: { id, retryCount },
  };
}

/** One key of a queue for one run; pg-boss compares it and looks into it no further. */
function runName({ tenant, runId }: RunKey): string {
  return JSON.stringify([tenant, runId]);
}
