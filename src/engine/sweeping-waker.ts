import type { EngineContext } from "./context.ts";
import { createInProcessWaker } from "./in-process-waker.ts";
import { unfinishedRuns } from "./recover-all.ts";
import type { Waker } from "./waker.ts";

const SWEEP_MS = 10_000;

// A thousand questions that expire together are worked off in turns.
const EXPIRED_MAX = 200;

/**
 * Creates the waker of a worker that was given none: an in-process one that finds expired questions in the store.
 *
 * A question that waits for weeks is then neither a timer nor an object in memory, and one that an earlier process has
 * asked expires all the same.
 */
export function createSweepingWaker({ store, clock, agent }: Pick<EngineContext, "store" | "clock" | "agent">): Waker {
  const waker = createInProcessWaker({ clock });
  const sweep = async (signal: AbortSignal): Promise<void> => {
    let count = 0;
    for await (const row of unfinishedRuns(store, clock.now(), signal)) {
      if (row.status !== "waiting" || row.agent !== agent.name) continue;
      const { tenant, runId } = row;
      await waker.wake({ run: { tenant, runId }, why: "expiry", key: `${tenant}/${runId}:expired` });
      count += 1;
      if (count === EXPIRED_MAX) return;
    }
  };
  return {
    promises: waker.promises,
    wake: async (wake) => {
      const isFar = wake.notBefore !== undefined && wake.notBefore - clock.now() > SWEEP_MS;
      if (wake.why !== "expiry" || !isFar) await waker.wake(wake);
    },
    serve: async (advance) => {
      const stop = new AbortController();
      let sweeping: Promise<void> | undefined;
      const timer = setInterval(() => {
        sweeping ??= sweep(stop.signal)
          // The store is not there just now; the next sweep asks again.
          .catch(() => undefined)
          .finally(() => {
            sweeping = undefined;
          });
      }, SWEEP_MS);
      timer.unref();
      const serving = await waker.serve(advance);
      return {
        close: async () => {
          clearInterval(timer);
          stop.abort();
          await sweeping;
          await serving.close();
        },
      };
    },
  };
}
