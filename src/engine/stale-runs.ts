import { isReservation, type Store } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { unfinishedRuns } from "./recover-all.ts";
import type { WakeStaleOptions } from "./wake-stale.ts";
import type { Waker } from "./waker.ts";

const LOOK_MS = 60_000;

/** What `wakeStale` does. */
export async function wakeStaleRuns(store: Store, waker: Waker, options: WakeStaleOptions): Promise<number> {
  const { now, staleMs, agents, signal } = options;
  let count = 0;
  for await (const row of unfinishedRuns(store, now, signal)) {
    const { tenant, runId, agent, head, updatedAt } = row;
    if (now - updatedAt < staleMs || agents?.has(agent) === false || (await isReservation(store, row))) continue;
    count += 1;
    await waker.wake({ run: { tenant, runId }, why: "retry", key: `${tenant}/${runId}:${head}:stale` });
  }
  return count;
}

/** Looks for stale runs of the agent now and every minute; what fails is tried again at the next look. */
export function keepWakingStale(context: EngineContext, waker: Waker, signal: AbortSignal): void {
  const agents = new Set([context.agent.name]);
  let isLooking = false;
  const look = (): void => {
    if (isLooking) return;
    isLooking = true;
    wakeStaleRuns(context.store, waker, { now: context.clock.now(), staleMs: 2 * context.leaseMs, agents, signal })
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  };
  const timer = setInterval(look, LOOK_MS);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  look();
}
