import type { CallState } from "./call.ts";
import type { Entry, RunEvent } from "./event.ts";
import type { RunState } from "./run-state.ts";
import { terminationCode } from "./termination.ts";
import { answerHoldsUntil, callsInDoubt, findCall, mayDecide } from "./turn.ts";

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

/**
 * Why an event does not apply to a state, or `undefined` when it does.
 *
 * This is the one gate in front of every change of state: `transition` asks it, and so does every writer before it
 * appends, so what is refused here can neither be stored by us nor do harm when somebody else stored it.
 */
export function refusalOf(state: RunState | undefined, entry: Entry): string | undefined {
  const { event } = entry;
  if (state === undefined) return event.type === "run.started" ? undefined : "the run has not started";
  if (state.termination !== undefined) return refusalAfterEnd(state, event);
  switch (event.type) {
    case "run.started":
      return "the run has started already";
    case "run.followed":
    case "run.retired":
      return "the run has not ended";
    case "segment.started":
      return event.fence < state.fence ? "an older lease" : undefined;
    case "limit.reached":
    case "run.cancel_requested":
      return state.ending === undefined ? undefined : "the run is ending";
    case "run.ended":
      return refuseEnd(state, event);
    case "message.queued":
      return state.queued.some((message) => message.messageId === event.messageId) ? "queued already" : undefined;
    case "model.requested":
    case "context.summarising":
    case "context.compacted":
    case "model.replied":
    case "model.failed":
      return refuseModelEvent(state, event);
    case "budget.reserved":
    case "budget.settled":
    case "budget.released":
      return refuseBudget(state, event);
    case "call.reconciled":
      return refuseReconciliation(state, event);
    default:
      return refuseCallEvent(state, entry.at, event);
  }
}

function refuseBudget(
  state: RunState,
  event: EventOf<"budget.reserved" | "budget.settled" | "budget.released">,
): string | undefined {
  const open = state.openBudgets.find(({ reservationId }) => reservationId === event.reservationId);
  if (event.type !== "budget.reserved") {
    if (open === undefined) return "no such reservation";
    const status = open.forCall === undefined ? undefined : findCall(state, open.forCall)?.status;
    if (status === "allowed" || status === "started") return "a call is still running";
    // Said by a worker that had not heard of the doubt yet.
    const isInDoubt = callsInDoubt(state).some(({ call }) => call.callId === open.forCall);
    return isInDoubt ? "nobody knows whether the call happened" : undefined;
  }
  if (open !== undefined) return "reserved already";
  return event.forCall === undefined ? undefined : refuseCallReservation(state, event.forCall);
}

/** Points are reserved for a call that is about to start, or to see whether it is worth asking a person. */
function refuseCallReservation(state: RunState, callId: string): string | undefined {
  if (state.ending !== undefined) return "the run is ending";
  const status = findCall(state, callId)?.status;
  return status === "allowed" || status === "asked" ? undefined : `call ${callId} is ${status}`;
}

function refusalAfterEnd(state: RunState, event: RunEvent): string | undefined {
  switch (event.type) {
    case "run.followed":
      return state.queued.length > 0 && state.followedBy === undefined ? undefined : "nothing follows the run";
    case "call.outcome_observed":
      return undefined;
    case "call.reconciled":
      return refuseReconciliation(state, event);
    case "budget.settled":
    case "budget.released":
      return refuseBudget(state, event);
    default:
      return "the run has ended";
  }
}

/** Only a person says what became of a call, and only of one that nobody knows about. */
function refuseReconciliation(state: RunState, event: EventOf<"call.reconciled">): string | undefined {
  if (event.by.kind !== "person") return "only a person says what became of a call";
  if (event.outcome !== "happened" && event.outcome !== "did_not_happen") return "no such outcome";
  const isOpen = callsInDoubt(state).some(({ call }) => call.callId === event.callId);
  return isOpen ? undefined : `the outcome of call ${event.callId} is not in doubt`;
}

function refuseModelEvent(
  state: RunState,
  event: EventOf<"model.requested" | "context.summarising" | "context.compacted" | "model.replied" | "model.failed">,
): string | undefined {
  if (event.type === "model.replied" || event.type === "model.failed") {
    return state.openRequest === undefined
      ? "no model call is open"
      : event.step !== undefined && event.step !== state.step
        ? "a reply to another request"
        : undefined;
  }
  if (state.ending !== undefined) return "the run is ending";
  return state.turn.length > 0 ? "calls of the turn are not settled" : undefined;
}

function refuseEnd(state: RunState, event: EventOf<"run.ended">): string | undefined {
  if (state.ending === undefined) return "nothing ends the run";
  if (terminationCode(state.ending) !== terminationCode(event.termination)) return "the run ends for another reason";
  return state.turn.some((call) => call.status === "started") ? "a call is still running" : undefined;
}

type CallEvent = EventOf<
  | "call.decided"
  | "approval.requested"
  | "approval.resolved"
  | "approval.expired"
  | "call.started"
  | "call.settled"
  | "call.outcome_observed"
>;

function refuseCallEvent(state: RunState, at: number, event: CallEvent): string | undefined {
  if (event.type === "call.outcome_observed") return undefined;
  const call = findCall(state, event.callId);
  if (call === undefined) return `no call ${event.callId} in this turn`;
  if (call.status === "settled") return `call ${event.callId} is settled`;
  if (event.type === "call.settled") return refuseSettle(call, event);
  if (state.ending !== undefined) return refuseWhileEnding(call, event);
  switch (event.type) {
    case "call.decided":
      return refuseDecision(state, call, event);
    case "approval.requested":
      if (call.status !== "asked") return "nobody has to be asked";
      return event.expiresAt > at ? undefined : "the question would be expired";
    case "approval.resolved":
      return refuseAnswer(call, at, event);
    case "approval.expired":
      return refuseExpiry(call, at, event);
    case "call.started":
      return refuseStart(state, call, event);
  }
}

/** An interrupted call may be started again while the run is ending; nothing new may. */
function refuseWhileEnding(
  call: CallState,
  event: Exclude<CallEvent, EventOf<"call.outcome_observed" | "call.settled">>,
): string | undefined {
  if (event.type === "call.started" && call.status === "started" && event.attempt === call.attempt + 1)
    return undefined;
  return "the run is ending";
}

function refuseDecision(state: RunState, call: CallState, event: EventOf<"call.decided">): string | undefined {
  const expected = event.recheck === true ? "approved" : "requested";
  if (call.status !== expected) return `call ${event.callId} is ${call.status}, not ${expected}`;
  return mayDecide(state, call) ? undefined : "an earlier changing call comes first";
}

function refuseAnswer(call: CallState, at: number, event: EventOf<"approval.resolved">): string | undefined {
  const { approval } = call;
  if (call.status !== "waiting" || approval?.approvalId !== event.approvalId) return "no such open question";
  if (event.by.kind !== "person") return "only a person answers";
  if (event.argsHash !== approval.argsHash) return "the answer is about other arguments";
  return at < approval.expiresAt ? undefined : "the question has expired";
}

/** A question nobody answered, or a yes that lay too long before anybody could act on it. */
function refuseExpiry(
  { status, approval }: CallState,
  at: number,
  event: EventOf<"approval.expired">,
): string | undefined {
  if (approval?.approvalId !== event.approvalId) return "no such open question";
  if (status === "waiting") return at >= approval.expiresAt ? undefined : "the question is still open";
  if (status !== "approved") return "no such open question";
  return at >= answerHoldsUntil(approval) ? undefined : "the answer still holds";
}

function refuseStart(state: RunState, call: CallState, event: EventOf<"call.started">): string | undefined {
  if (event.fence !== state.fence) return "an older lease";
  if (event.attempt !== call.attempt + 1) return `attempt ${event.attempt} after ${call.attempt}`;
  return call.status === "allowed" || call.status === "started" ? undefined : `call ${event.callId} is ${call.status}`;
}

function refuseSettle(call: CallState, event: EventOf<"call.settled">): string | undefined {
  if (event.attempt !== undefined) {
    return call.status === "started" && event.attempt === call.attempt ? undefined : "another attempt";
  }
  if (call.status === "started") return "a started call settles with its attempt";
  if (event.outcome.status !== "ok") return undefined;
  // Only a read runs without a recorded intent, and only after a verdict that allows it.
  return call.call.effect === "read" && call.status === "allowed" ? undefined : "a success without a start";
}
