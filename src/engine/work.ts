import type { RunKey } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { EngineContext } from "./context.ts";
import type { RunResult } from "./harness.ts";
import { isOtherModel } from "./other-model.ts";
import { recoverAll } from "./recover-all.ts";
import { keepWakingStale } from "./stale-runs.ts";
import type { Waker } from "./waker.ts";
import { watchStuckRuns } from "./watch-stuck.ts";

/** Serves wake-ups until closed, and takes up what nobody was told of. */
export async function serveWakes(
  context: EngineContext,
  active: ActiveRuns,
  waker: Waker,
  options: { readonly signal?: AbortSignal },
): Promise<{ close(): Promise<void> }> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  if (options.signal?.aborted === true) onAbort();
  const { signal } = stop;
  const serving = await waker.serve(async (wake) => {
    // A wake that was not acted on to the end has to come again, to whoever is there then.
    if (signal.aborted) throw new Error("the worker stops");
    const status = await advanceOwn(context, active, waker, wake.run, signal);
    if (signal.aborted) throw new Error("the worker stops");
    // Whoever holds the lease may be dead. Unless the wake comes again, nobody goes on when the lease has run out.
    if (status === "busy") throw new Error("another worker holds the run");
  });
  if (waker.promises.survives === "process") await recoverAll(context, waking(active, waker, context), { signal });
  else keepWakingStale(context, waker, signal);
  watchStuckRuns(context, signal);
  return {
    close: async () => {
      stop.abort();
      options.signal?.removeEventListener("abort", onAbort);
      await serving.close();
    },
  };
}

/** Goes on with a run; one that asks another model is done with here when no other process can be told of it. */
async function advanceOwn(
  context: EngineContext,
  active: ActiveRuns,
  { promises }: Waker,
  run: RunKey,
  signal: AbortSignal,
): Promise<RunResult["status"] | "other_model"> {
  try {
    return (await active.advance(run, { signal })).status;
  } catch (error) {
    if (promises.survives === "process" && isOtherModel(context, error)) return "other_model";
    throw error;
  }
}

/** A run whose lease a dead process still holds is looked at again when that lease has run out. */
function waking(active: ActiveRuns, waker: Waker, { clock, leaseMs }: EngineContext): ActiveRuns {
  return {
    ...active,
    async advance(run, options) {
      const result = await active.advance(run, options);
      if (result.status === "busy") {
        const key = `${run.tenant}/${run.runId}:busy`;
        await waker.wake({ run, why: "retry", key, notBefore: clock.now() + leaseMs });
      }
      return result;
    },
  };
}
