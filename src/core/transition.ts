import type { CallState } from "./call.ts";
import type { Effect } from "./effect.ts";
import { effectsOf } from "./effects.ts";
import type { Entry, RunEvent } from "./event.ts";
import {
  onApprovalExpired,
  onApprovalRequested,
  onApprovalResolved,
  onCallDecided,
  onCallReconciled,
  onCallSettled,
  onCallStarted,
} from "./on-call.ts";
import { beginEnding, onRunEnded } from "./on-end.ts";
import {
  onContextCompacted,
  onContextSummarising,
  onModelFailed,
  onModelReplied,
  onModelRequested,
} from "./on-model.ts";
import { refusalOf } from "./refusal.ts";
import type { RunState } from "./run-state.ts";

/**
 * The whole behaviour of a run, as a pure and total function.
 *
 * It reads no clock, does no I/O and draws no random number, so replaying a journal always gives the same state and
 * the same pending effects. An event that does not apply returns the same state and no effects, and nothing throws,
 * so no stored event can make a run unreadable.
 */
export function transition(
  state: RunState | undefined,
  entry: Entry,
): readonly [state: RunState | undefined, effects: readonly Effect[]] {
  const next = apply(state, entry);
  return next === undefined || next === state ? [state, []] : [next, effectsOf(next)];
}

/** Whether an event would change anything, with the reason when it would not. Every writer asks before it appends. */
export function accepts(
  state: RunState | undefined,
  entry: Entry,
): { readonly ok: true } | { readonly ok: false; readonly reason: string } {
  const reason = refusalOf(state, entry);
  return reason === undefined ? { ok: true } : { ok: false, reason };
}

/** Folds entries into a state; `from` is a state folded earlier. */
export function fold(entries: Iterable<Entry>, from?: RunState): RunState | undefined {
  let state = from;
  for (const entry of entries) state = apply(state, entry);
  return state;
}

/** One step of `fold`: the state after an entry, or the same object when the entry does not apply. */
export function apply(state: RunState | undefined, entry: Entry): RunState | undefined {
  try {
    if (refusalOf(state, entry) !== undefined) return state;
    const { event } = entry;
    if (state === undefined) return event.type === "run.started" ? startRun(entry.at, event) : state;
    return applyTo(withTime(state, entry), entry.at, event);
  } catch {
    // Only an event that this code could not have written gets here; it must not make the run unreadable.
    return state;
  }
}

function applyTo(state: RunState, at: number, event: RunEvent): RunState {
  switch (event.type) {
    case "run.started":
    case "call.outcome_observed":
    case "run.retired":
      return state;
    case "segment.started":
      return onSegmentStarted(state, at, event);
    case "model.requested":
      return onModelRequested(state, event);
    case "model.replied":
      return onModelReplied(state, event);
    case "model.failed":
      return onModelFailed(state, event);
    case "context.summarising":
      return onContextSummarising(state, event);
    case "context.compacted":
      return onContextCompacted(state, event);
    case "limit.reached":
      return beginEnding(state, { kind: "limit", limit: event.limit, detail: event.detail });
    case "call.decided":
      return onCallDecided(state, event);
    case "approval.requested":
      return onApprovalRequested(state, at, event);
    case "approval.resolved":
      return onApprovalResolved(state, at, event);
    case "approval.expired":
      return onApprovalExpired(state, event);
    case "call.started":
      return onCallStarted(state, at, event);
    case "call.settled":
      return onCallSettled(state, event);
    case "call.reconciled":
      return onCallReconciled(state, at, event);
    case "budget.reserved": {
      const { type: _type, limit: _limit, ...reservation } = event;
      return { ...state, openBudgets: [...state.openBudgets, reservation] };
    }
    case "budget.settled":
    case "budget.released":
      return { ...state, openBudgets: state.openBudgets.filter((open) => open.reservationId !== event.reservationId) };
    case "message.queued": {
      const { type: _type, ...message } = event;
      return { ...state, queued: [...state.queued, message] };
    }
    case "run.cancel_requested":
      return beginEnding(state, { kind: "cancelled", by: event.by.id });
    case "run.ended":
      return onRunEnded(state);
    case "run.followed":
      return { ...state, followedBy: event.nextRunId };
    default:
      // A type of a later version: it changes nothing here, and the store refuses such a journal before it is folded.
      return ignore(event, state);
  }
}

/** Events that other writers append beside the worker; they are no work of the segment. */
const FROM_OUTSIDE: ReadonlySet<RunEvent["type"]> = new Set<RunEvent["type"]>([
  "approval.resolved",
  "approval.expired",
  "message.queued",
  "run.cancel_requested",
  "run.followed",
  "call.outcome_observed",
  "call.reconciled",
]);

function withTime(state: RunState, { at, event }: Entry): RunState {
  const lastAt = Math.max(state.lastAt, at);
  if (FROM_OUTSIDE.has(event.type) || event.type === "segment.started" || state.segmentLastAt === undefined) {
    return { ...state, lastAt };
  }
  const worked = Math.max(0, at - state.segmentLastAt);
  return { ...state, lastAt, workedMs: state.workedMs + worked, segmentLastAt: Math.max(state.segmentLastAt, at) };
}

/**
 * Another worker goes on. What was allowed and has not begun is judged again: the verdict belongs to a world and to
 * rules that may be days old.
 */
function onSegmentStarted(
  state: RunState,
  at: number,
  event: Extract<RunEvent, { type: "segment.started" }>,
): RunState {
  const turn = state.turn.map((call): CallState => {
    if (call.status !== "allowed") return call;
    return { ...call, status: call.approval?.approvedBy === undefined ? "requested" : "approved" };
  });
  const agent = event.agent === undefined ? {} : { agent: event.agent };
  return { ...state, ...agent, turn, fence: event.fence, segmentLastAt: at };
}

function startRun(at: number, event: Extract<RunEvent, { type: "run.started" }>): RunState {
  return {
    agent: event.agent,
    ...(event.model === undefined ? {} : { model: event.model }),
    tenant: event.tenant,
    principal: event.principal,
    conversationId: event.conversationId,
    input: event.input,
    ...(event.offeredTools === undefined ? {} : { offeredTools: event.offeredTools }),
    memory: event.memory ?? [],
    limits: event.limits,
    onReject: event.onReject,
    onExpiry: event.onExpiry,
    onWorldChanged: event.onWorldChanged,
    ...(event.endsAfterTurn === true ? { endsAfterTurn: true } : {}),
    phase: "PLAN",
    step: 0,
    phaseChanges: [],
    messages: [{ role: "user", text: event.input }],
    turn: [],
    earlierCalls: [],
    callKeys: [],
    invalidCalls: 0,
    unreadableInRow: 0,
    usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, costNanoUsd: 0, costUnknown: false, estimated: false },
    openBudgets: [],
    retriesInRow: 0,
    retries: 0,
    compactions: [],
    summaries: {},
    workedMs: 0,
    fence: 0,
    lastAt: at,
    queued: [],
  };
}

function ignore(_event: never, state: RunState): RunState {
  return state;
}
