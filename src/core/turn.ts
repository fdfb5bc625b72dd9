import type { ApprovalState, CallState } from "./call.ts";
import type { RunState } from "./run-state.ts";

/** Statuses in which a changing call lets later changing calls of the turn go first. */
const STEPS_ASIDE: ReadonlySet<CallState["status"]> = new Set(["settled", "waiting", "asked"]);
const IN_FLIGHT: ReadonlySet<CallState["status"]> = new Set(["allowed", "started"]);

export function findCall(state: RunState, callId: string): CallState | undefined {
  return state.turn.find((candidate) => candidate.call.callId === callId);
}

/** A yes holds at least so long after it was given, so that one in the last minute of a question is of use. */
const ANSWER_HOLDS_MS_MIN = 15 * 60 * 1000;

/** Until when a yes may be acted on: as long as its question was open, and some minutes in any case. */
export function answerHoldsUntil({ expiresAt, approvedAt = 0 }: ApprovalState): number {
  return Math.max(expiresAt, approvedAt + ANSWER_HOLDS_MS_MIN);
}

/** Whether nobody knows yet what became of a call. */
export function isInDoubt({ outcome, reconciled }: CallState): boolean {
  return outcome?.status === "unknown" && reconciled === undefined;
}

/** Calls of the run whose outcome nobody knows yet, in the model's order. */
export function callsInDoubt(state: RunState): readonly CallState[] {
  return [...state.earlierCalls, ...state.turn].filter(isInDoubt);
}

/**
 * Whether the policy may look at the call now.
 *
 * A read always may. A changing call waits until every earlier changing call of the turn is settled or waits for a
 * person, and until no other changing call is between its decision and its end: a decision is only as fresh as its
 * read, so two refunds of one turn must not be judged on the same balance.
 */
export function mayDecide(state: RunState, target: CallState): boolean {
  if (target.call.effect === "read") return true;
  let isEarlier = true;
  for (const other of state.turn) {
    if (other === target || other.call.callId === target.call.callId) {
      isEarlier = false;
      continue;
    }
    if (other.call.effect === "read") continue;
    if (IN_FLIGHT.has(other.status)) return false;
    if (isEarlier && !STEPS_ASIDE.has(other.status)) return false;
  }
  return true;
}

/** The state with one call of the turn changed. */
export function withCall(state: RunState, callId: string, change: Partial<CallState>): RunState {
  return {
    ...state,
    turn: state.turn.map((candidate) => (candidate.call.callId === callId ? { ...candidate, ...change } : candidate)),
  };
}
