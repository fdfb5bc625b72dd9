import { isReservation, type RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { unfinishedRuns } from "./recover-all.ts";

/** The queue is counted at most so often; between two looks the runs that are started here are added. */
const LOOK_MS = 1000;
/** And at most so often while it seems to be full: a store that is full is not to be read by everybody it refuses. */
const LOOK_WHEN_FULL_MS = 20;

interface Look {
  readonly at: number;
  count: number;
}

const looks = new WeakMap<EngineContext, Look>();

/**
 * Refuses a new run while too many others wait for a worker. A run that exists already is asked for again and passes:
 * `true`.
 *
 * Throws BELAY_OVERLOADED with `retryAfterMs`, before anything is written.
 */
export async function checkQueue(context: EngineContext, tenant: string, runId: string | undefined): Promise<boolean> {
  const known: RunKey | undefined = runId === undefined ? undefined : { tenant, runId };
  if (known !== undefined && (await context.store.run(known)) !== undefined) return true;
  const now = performance.now();
  let look = looks.get(context);
  // Runs that were started here may have ended since, so nobody is refused on an old count.
  const isFull = look !== undefined && look.count >= context.queueMax && now - look.at > LOOK_WHEN_FULL_MS;
  if (look === undefined || isFull || now - look.at > LOOK_MS) {
    look = { at: now, count: await countQueue(context) };
    looks.set(context, look);
  }
  if (look.count >= context.queueMax) {
    throw new context.kit.BelayError(
      "BELAY_OVERLOADED",
      `${context.queueMax} runs wait for a worker already, and no more are taken up (queueMax); nothing was recorded. Try again later.`,
      { retryAfterMs: context.kit.CAPACITY.overloadedRetryMs },
    );
  }
  look.count += 1;
  return false;
}

async function countQueue({ store, clock, queueMax }: EngineContext): Promise<number> {
  let count = 0;
  for await (const row of unfinishedRuns(store, clock.now(), undefined)) {
    if (row.status !== "waiting" && !(await isReservation(store, row))) count += 1;
    if (count >= queueMax) break;
  }
  return count;
}
