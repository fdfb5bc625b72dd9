import type { CallState } from "./call.ts";
import type { Effect } from "./effect.ts";
import type { RunState } from "./run-state.ts";
import { mayDecide } from "./turn.ts";

/** Everything that a state implies must be done next; empty only when the run has ended and nothing follows it. */
export function effectsOf(state: RunState): readonly Effect[] {
  if (state.termination !== undefined) return afterEnd(state);
  if (state.ending !== undefined) {
    const running = state.turn.filter((call) => call.status === "started");
    return running.length > 0
      ? running.map(({ call }) => ({ type: "finish_call", callId: call.callId }))
      : [...orphanBudgets(state), { type: "end_run", termination: state.ending }];
  }
  if (state.turn.length === 0) return [{ type: "call_model" }];
  return state.turn.flatMap((call) => effectOfCall(state, call) ?? []);
}

function effectOfCall(state: RunState, call: CallState): Effect | undefined {
  const { callId } = call.call;
  switch (call.status) {
    case "requested":
    case "approved":
      return mayDecide(state, call) ? { type: "decide_call", callId, recheck: call.status === "approved" } : undefined;
    case "asked":
      return { type: "request_approval", callId };
    case "waiting": {
      if (call.approval === undefined) return undefined;
      const { approvalId, expiresAt } = call.approval;
      return { type: "await_approval", callId, approvalId, expiresAt };
    }
    case "allowed":
      return { type: "start_call", callId };
    case "started":
      return { type: "finish_call", callId };
    case "settled":
      return undefined;
  }
}

function afterEnd(state: RunState): readonly Effect[] {
  const [next] = state.queued;
  return next === undefined || state.followedBy !== undefined
    ? orphanBudgets(state)
    : [...orphanBudgets(state), { type: "start_next_run", nextRunId: next.nextRunId }];
}

/** Reservations that no model call will settle any more; charged in full, because unknown cost is never zero. */
function orphanBudgets(state: RunState): readonly Effect[] {
  return state.openBudgets.map((open) => ({ type: "settle_budget", ...open }));
}
