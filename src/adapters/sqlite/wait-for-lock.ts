import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MS_MAX = 25;

/**
 * Tries until it works or the time is up, without blocking the event loop between two tries.
 *
 * SQLite's own waiting would stop every timer of the process, also those that keep a lease alive.
 */
export async function waitForLock<Value>(
  attempt: () => Value,
  isBusy: (error: unknown) => boolean,
  timeoutMs: number,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) {
        throw error;
      }
    }
    // Not in step with other waiters.
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}
