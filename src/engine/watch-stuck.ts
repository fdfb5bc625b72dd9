import { type StuckRun, stuckAlarm, stuckWatcher, watchStuck } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

/** Raises one alarm for each standstill of a run of the agent. Stops with the signal. */
export function watchStuckRuns(context: EngineContext, signal: AbortSignal): void {
  const longestMs = Math.max(context.modelTimeoutMs, ...[...context.contracts.values()].map((tool) => tool.timeoutMs));
  const watcher = {
    clock: context.clock,
    knows: (agent: string) => agent === context.agent.name,
    onStuck: (run: StuckRun) => {
      const { tenant, runId } = run;
      context.alarm({ ...stuckAlarm(run), run: { tenant, runId } });
    },
  };
  watchStuck(context.store, stuckWatcher(watcher, longestMs), signal);
}
