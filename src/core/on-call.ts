import type { CallOutcome, CallState, Decision } from "./call.ts";
import type { RunEvent } from "./event.ts";
import { beginEnding, closeTurn } from "./on-end.ts";
import { moveTo } from "./phase.ts";
import type { RunState } from "./run-state.ts";
import { findCall, isInDoubt, withCall } from "./turn.ts";

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

export function onCallDecided(state: RunState, event: EventOf<"call.decided">): RunState {
  const { callId, decision } = event;
  const call = findCall(state, callId);
  if (call === undefined) return state;
  const decided = withCall(state, callId, { decision });
  switch (decision.verdict) {
    case "allow":
      return settlePhase(withCall(decided, callId, { status: "allowed" }));
    case "ask":
      // A person's yes covers the question they were asked, and no other.
      return event.recheck === true && event.asksAgain !== true && isCovered(call, decision)
        ? settlePhase(withCall(decided, callId, { status: "allowed" }))
        : settlePhase(withCall(decided, callId, { status: "asked" }));
    case "deny":
      return event.recheck === true
        ? worldChanged(decided, call, decision.code, decision.reason)
        : settle(decided, callId, failure("denied", decision.code, decision.reason));
    case "halt": {
      const { code, reason, ruleId } = decision;
      const settled = withCall(decided, callId, { status: "settled", outcome: failure("denied", code, reason) });
      return beginEnding(settled, { kind: "halted", code, ruleId, detail: reason });
    }
  }
}

/** Whether a person's yes answers everything that is asked now. */
export function isCovered(call: CallState, decision: Decision): boolean {
  const { approval } = call;
  return approval !== undefined && codesOf(decision).every((code) => approval.codes.includes(code));
}

function codesOf(decision: Decision): readonly string[] {
  return [decision.code, ...(decision.also ?? [])];
}

export function onApprovalRequested(state: RunState, at: number, event: EventOf<"approval.requested">): RunState {
  const decision = findCall(state, event.callId)?.decision;
  const { approvalId, expiresAt, argsHash, contractHash, policyHash, revision } = event;
  const approval = {
    ...{ approvalId, expiresAt, argsHash, contractHash, policyHash, revision },
    code: decision?.code ?? "",
    codes: decision === undefined ? [] : codesOf(decision),
    reason: decision?.reason ?? "",
    requestedAt: at,
  };
  return settlePhase(withCall(state, event.callId, { status: "waiting", approval }));
}

export function onApprovalResolved(state: RunState, at: number, event: EventOf<"approval.resolved">): RunState {
  const { callId, approvalId, by } = event;
  const call = findCall(state, callId);
  if (call?.approval === undefined) return state;
  if (event.answer === "approved") {
    const approval = { ...call.approval, approvedBy: by.id, approvedAt: at };
    return settlePhase(withCall(state, callId, { status: "approved", approval }));
  }
  const outcome = failure("rejected", "approval_rejected", "a person rejected this call; it was not run");
  const rejected = withCall(state, callId, { status: "settled", outcome });
  if (state.onReject === "end_run") return beginEnding(rejected, { kind: "rejected", approvalId, by: by.id });
  const count = [...rejected.earlierCalls, ...rejected.turn].filter((c) => c.outcome?.status === "rejected").length;
  const { rejectionsMax } = state.limits;
  if (rejectionsMax === undefined || count < rejectionsMax) return finishTurn(rejected);
  const detail = `people have rejected ${count} calls of this run`;
  return beginEnding(rejected, { kind: "limit", limit: "rejections", detail });
}

export function onApprovalExpired(state: RunState, event: EventOf<"approval.expired">): RunState {
  const isAnswered = findCall(state, event.callId)?.status === "approved";
  const late = isAnswered
    ? "a person said yes, and it was too late when that could be acted on"
    : "nobody answered in time";
  const message = `${late}; the call was not run and needs a new request`;
  const outcome = failure("expired", "approval_expired", message);
  const expired = withCall(state, event.callId, { status: "settled", outcome });
  return state.onExpiry === "end_run"
    ? beginEnding(expired, { kind: "approval_expired", approvalId: event.approvalId })
    : finishTurn(expired);
}

export function onCallStarted(state: RunState, at: number, event: EventOf<"call.started">): RunState {
  const { callId, attempt, idempotencyKey, fence, recovery, overAfterMs } = event;
  const started = { status: "started", attempt, idempotencyKey, fence, recovery, startedAt: at } as const;
  return settlePhase(withCall(state, callId, overAfterMs === undefined ? started : { ...started, overAfterMs }));
}

export function onCallSettled(state: RunState, event: EventOf<"call.settled">): RunState {
  const { callId, outcome } = event;
  const call = findCall(state, callId);
  if (call === undefined) return state;
  if (outcome.status === "world_changed") return worldChanged(state, call, outcome.error.code, outcome.error.message);
  const settled = withCall(state, callId, { status: "settled", outcome });
  return outcome.status === "unknown" ? beginEnding(settled, { kind: "outcome_unknown", callId }) : finishTurn(settled);
}

/** The outcome stays `unknown`, which is what the run ended on; what was found out since stands beside it. */
export function onCallReconciled(state: RunState, at: number, event: EventOf<"call.reconciled">): RunState {
  const { type: _type, callId, ...found } = event;
  const reconcile = (calls: readonly CallState[]): readonly CallState[] =>
    calls.map((call) =>
      isInDoubt(call) && call.call.callId === callId ? { ...call, reconciled: { ...found, at } } : call,
    );
  return { ...state, turn: reconcile(state.turn), earlierCalls: reconcile(state.earlierCalls) };
}

/** The policy allowed the call, or a person did, and says no at the last moment. */
function worldChanged(state: RunState, call: CallState, code: string, reason: string): RunState {
  const { callId } = call.call;
  const outcome = failure("world_changed", code, reason);
  const settled = withCall(state, callId, { status: "settled", outcome });
  return call.approval !== undefined && state.onWorldChanged === "end_run"
    ? beginEnding(settled, { kind: "world_changed", code, callId })
    : finishTurn(settled);
}

function settle(state: RunState, callId: string, outcome: CallOutcome): RunState {
  return finishTurn(withCall(state, callId, { status: "settled", outcome }));
}

function failure(status: Exclude<CallOutcome["status"], "ok">, code: string, message: string): CallOutcome {
  return { status, error: { code, message, retryable: false } };
}

/** Goes on to OBSERVE when every call of the turn has its result. */
export function finishTurn(state: RunState): RunState {
  if (state.ending !== undefined || state.turn.some((call) => call.status !== "settled")) return settlePhase(state);
  const executing = moveTo(state, "EXECUTE_TOOLS", "approval settled");
  const observed = moveTo(closeTurn(executing), "OBSERVE", "tool results appended");
  return state.endsAfterTurn === true ? beginEnding(observed, { kind: "completed" }) : observed;
}

/** The phase is AWAIT_APPROVAL only while nothing else of the turn can run. */
function settlePhase(state: RunState): RunState {
  if (state.ending !== undefined || (state.phase !== "EXECUTE_TOOLS" && state.phase !== "AWAIT_APPROVAL")) return state;
  const open = state.turn.filter((call) => call.status !== "settled");
  const isWaiting = open.length > 0 && open.every((call) => call.status === "waiting");
  return isWaiting
    ? moveTo(state, "AWAIT_APPROVAL", `${open.length} approval(s) pending`)
    : moveTo(state, "EXECUTE_TOOLS", "approval settled");
}
