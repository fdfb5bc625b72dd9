import { stuckAlarm, watchStuck } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

/** Raises one alarm for each standstill of a run of the agent. Stops with the signal. */
export function watchStuckRuns(context: EngineContext, signal: AbortSignal): void {
  const { CAPACITY } = context.kit;
  const longestMs = Math.max(context.modelTimeoutMs, ...[...context.contracts.values()].map((tool) => tool.timeoutMs));
  const watcher = {
    clock: context.clock,
    knows: (agent: string) => agent === context.agent.name,
    lookMs: CAPACITY.stuckLookMs,
    notTakenMs: CAPACITY.notTakenMs,
    stuckMs: Math.max(CAPACITY.stuckMs, 2 * longestMs),
    onStuck: (run: Parameters<typeof stuckAlarm>[0]) => {
      const { tenant, runId } = run;
      context.alarm({ ...stuckAlarm(run), run: { tenant, runId } });
    },
  };
  watchStuck(context.store, watcher, signal);
}
