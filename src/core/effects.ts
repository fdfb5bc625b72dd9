import type { CallState } from "./call.ts";
import type { Effect } from "./effect.ts";
import type { OpenReservation, RunState } from "./run-state.ts";
import { mayDecide } from "./turn.ts";

/** Everything that a state implies must be done next; empty only when the run has ended and nothing follows it. */
export function effectsOf(state: RunState): readonly Effect[] {
  if (state.termination !== undefined) return afterEnd(state);
  if (state.ending !== undefined) {
    const running = state.turn.filter((call) => call.status === "started");
    return running.length > 0
      ? [...closeBudgets(state, false), ...running.map(({ call }) => finish(call.callId))]
      : [...closeBudgets(state, true), { type: "end_run", termination: state.ending }];
  }
  if (state.turn.length === 0) return [...closeBudgets(state, false), modelCall(state)];
  return [...closeBudgets(state, false), ...state.turn.flatMap((call) => effectOfCall(state, call) ?? [])];
}

function modelCall({ retryAt }: RunState): Effect {
  return retryAt === undefined ? { type: "call_model" } : { type: "await_retry", notBefore: retryAt };
}

function finish(callId: string): Effect {
  return { type: "finish_call", callId };
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
      return finish(callId);
    case "settled":
      return undefined;
  }
}

function afterEnd(state: RunState): readonly Effect[] {
  const [next] = state.queued;
  const follows = next !== undefined && state.followedBy === undefined;
  return [
    ...closeBudgets(state, true),
    ...(follows ? [{ type: "start_next_run", nextRunId: next.nextRunId } as const] : []),
  ];
}

/**
 * What becomes of open reservations. A model call's, which nothing will settle any more once the run is over, is charged
 * in full, because unknown cost is never zero.
 */
function closeBudgets(state: RunState, isOver: boolean): readonly Effect[] {
  return state.openBudgets.flatMap((open) => {
    if (open.forCall !== undefined) return closing(state, open) ?? [];
    return isOver ? settle(open) : [];
  });
}

/** A failure with this code came after the tool had done its work. */
const RAN_ALL_THE_SAME = "result_not_json";

/**
 * Points are spent when the call happened, and given back when it did not. While nobody knows they stay reserved, so
 * that they are there to be given back when a person finds out that nothing happened.
 */
function closing(state: RunState, open: OpenReservation): Effect | undefined {
  const isOwn = ({ call }: CallState): boolean => call.callId === open.forCall;
  const call = state.turn.find(isOwn) ?? state.earlierCalls.findLast(isOwn);
  // A question holds no points while it waits.
  if (call?.status === "allowed" || call?.status === "started") return undefined;
  const { outcome, reconciled } = call ?? {};
  if (outcome?.status === "unknown") {
    if (reconciled === undefined) return undefined;
    return reconciled.outcome === "happened" ? settle(open) : release(open);
  }
  const isSpent = outcome?.status === "ok" || outcome?.error.code === RAN_ALL_THE_SAME;
  return isSpent ? settle(open) : release(open);
}

function settle({ reservationId, budget, amount }: OpenReservation): Effect {
  return { type: "settle_budget", reservationId, budget, amount };
}

function release({ reservationId, budget }: OpenReservation): Effect {
  return { type: "release_budget", reservationId, budget };
}
