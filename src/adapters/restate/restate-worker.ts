import type { Wake } from "../../engine/index.ts";
import { openEndpoint } from "./restate-endpoint.ts";
import type { RestateSettings } from "./restate-options.ts";
import { createServices, type Deliver, type TakePlace } from "./restate-services.ts";

/** Opens the endpoint of one worker. */
export async function openWorker(
  settings: RestateSettings,
  advance: (wake: Wake, signal: AbortSignal) => Promise<void>,
): Promise<{ close(): Promise<void> }> {
  const { clock, concurrency } = settings;
  const stop = new AbortController();
  const underWay = new Set<Promise<void>>();
  const deliver: Deliver = async (wake, attemptEnded) => {
    // Restate's clock said that it is due. A handler that reads an earlier time would find nothing to do.
    if (wake.notBefore !== undefined && wake.notBefore > clock.now()) throw new Error("not due yet");
    const signal = AbortSignal.any([stop.signal, attemptEnded]);
    signal.throwIfAborted();
    const delivery = advance(wake, signal);
    const settled = delivery.catch(() => undefined).finally(() => underWay.delete(settled));
    underWay.add(settled);
    await delivery;
    // A handler that was told to stop may not have looked.
    signal.throwIfAborted();
  };
  const endpoint = await openEndpoint(
    settings,
    createServices(settings, createPlaces(concurrency, stop.signal), deliver),
  );
  return {
    async close() {
      stop.abort();
      await endpoint.close(async () => void (await Promise.all(underWay)));
    },
  };
}

/** At most `count` at once; who waits is told when the worker stops or Restate has given the attempt up. */
function createPlaces(count: number, stop: AbortSignal): TakePlace {
  let taken = 0;
  const waiting = new Set<() => void>();
  return async (attemptEnded) => {
    const signal = AbortSignal.any([stop, attemptEnded]);
    while (taken >= count && !signal.aborted) {
      const turn = Promise.withResolvers<void>();
      waiting.add(turn.resolve);
      signal.addEventListener("abort", () => turn.resolve(), { once: true });
      await turn.promise;
      waiting.delete(turn.resolve);
    }
    signal.throwIfAborted();
    taken += 1;
    return () => {
      taken -= 1;
      const [next] = waiting;
      next?.();
    };
  };
}
