import { type CallState, type RunState, terminationCode } from "../core/index.ts";
import type { ApprovalRow, RunKey } from "../journal/index.ts";
import type { Advanced } from "./advance.ts";
import type { Agent } from "./agent.ts";
import type { EngineContext } from "./context.ts";
import type { RunResult } from "./harness.ts";

/** Where a run stands, for the caller of `run` and `advance`. */
export async function resultOf(context: EngineContext, run: RunKey, { state, isBusy }: Advanced): Promise<RunResult> {
  const { termination, answer } = state;
  const approvals: readonly ApprovalRow[] =
    termination === undefined
      ? await context.store.approvals({ tenant: run.tenant, status: "pending", runId: run.runId })
      : [];
  return {
    ...run,
    conversationId: state.conversationId,
    status: termination === undefined ? (isBusy ? "busy" : "waiting") : statusOf(state),
    ...(termination === undefined ? {} : { termination, label: labelOf(context.agent, state) }),
    ...(answer === undefined ? {} : { answer }),
    approvals,
    usage: state.usage,
    state,
    calls: allCalls(state),
    ...(state.followedBy === undefined ? {} : { nextRun: { tenant: run.tenant, runId: state.followedBy } }),
  };
}

function statusOf(state: RunState): "done" | "failed" {
  return state.termination?.kind === "completed" ? "done" : "failed";
}

function labelOf(agent: Agent, { termination }: RunState): string {
  if (termination === undefined) return "";
  return agent.label?.(termination) ?? terminationCode(termination);
}

function allCalls(state: RunState): readonly CallState[] {
  return state.turn.length === 0 ? state.earlierCalls : [...state.earlierCalls, ...state.turn];
}
