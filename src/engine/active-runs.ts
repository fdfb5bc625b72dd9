import type { RunKey } from "../journal/index.ts";
import { type ActiveRun, type AdvanceOptions, advanceRun } from "./advance.ts";
import type { EngineContext } from "./context.ts";
import type { RunResult } from "./harness.ts";
import { resultOf } from "./result.ts";

/** The runs that this process is driving, one driver each: two would hold the same lease and race for nothing. */
export interface ActiveRuns {
  advance(run: RunKey, options?: AdvanceOptions): Promise<RunResult>;
  /** Aborts what is in flight of a run that was cancelled; `false` when this process does not drive it. */
  interrupt(run: RunKey): boolean;
}

export function createActiveRuns(context: EngineContext): ActiveRuns {
  const active = new Map<string, { readonly done: Promise<unknown>; interrupt(): void }>();
  return {
    async advance({ tenant, runId }, options = {}) {
      const run: RunKey = { tenant, runId };
      const key = `${tenant}/${runId}`;
      for (let other = active.get(key); other !== undefined; other = active.get(key)) await other.done;
      let current: ActiveRun | undefined;
      const done = advanceRun(context, run, options, (registered) => {
        current = registered;
      });
      const entry = { done: done.catch(() => undefined), interrupt: () => current?.cancel() };
      active.set(key, entry);
      try {
        return await resultOf(context, run, await done);
      } finally {
        active.delete(key);
      }
    },
    interrupt({ tenant, runId }) {
      const running = active.get(`${tenant}/${runId}`);
      running?.interrupt();
      return running !== undefined;
    },
  };
}
