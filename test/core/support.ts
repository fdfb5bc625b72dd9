import {
  type CallOutcome,
  DEFAULT_LIMITS,
  type Entry,
  fold,
  type Limits,
  type ModelOutput,
  type PreparedCall,
  type RunEvent,
  type RunState,
} from "../../src/core/index.ts";

export function started(
  limits: Partial<Limits> = {},
  change: Partial<Extract<RunEvent, { type: "run.started" }>> = {},
): RunEvent {
  return {
    type: "run.started",
    agent: { name: "a", revision: "1", policyHash: "p" },
    tenant: "default",
    principal: { kind: "customer", id: "c" },
    conversationId: "cnv",
    input: "hello",
    limits: { ...DEFAULT_LIMITS, ...limits },
    onReject: "tell_model",
    onExpiry: "tell_model",
    onWorldChanged: "tell_model",
    ...change,
  };
}

export const SEGMENT: RunEvent = { type: "segment.started", worker: "w", fence: 1 };
export const REQUESTED: RunEvent = {
  type: "model.requested",
  reserved: { inputTokens: 10, outputTokens: 10, costNanoUsd: 1 },
};
export const OK: CallOutcome = { status: "ok", value: { json: null } };

export function prepared(callId: string, change: Partial<PreparedCall> = {}): PreparedCall {
  return { callId, tool: "refund", args: { id: callId }, effect: "change", ...change };
}

export function replied(...calls: readonly PreparedCall[]): RunEvent {
  return {
    type: "model.replied",
    output: { kind: "calls", text: "", calls },
    usage: { inputTokens: 1, outputTokens: 1 },
    costNanoUsd: 1,
  };
}

export const FINAL: RunEvent = {
  type: "model.replied",
  output: { kind: "final", text: "bye" },
  usage: { inputTokens: 1, outputTokens: 1 },
  costNanoUsd: 1,
};

export function decided(callId: string, verdict: "allow" | "deny" | "ask" | "halt", change: object = {}): RunEvent {
  return { type: "call.decided", callId, decision: { verdict, code: "CODE", reason: "why", ruleId: "r" }, ...change };
}

export function asked(callId: string, expiresAt = 1000): RunEvent {
  return {
    type: "approval.requested",
    callId,
    approvalId: `apr_${callId}`,
    expiresAt,
    argsHash: "h",
    contractHash: "c",
    policyHash: "p",
    revision: "1",
  };
}

export function answered(callId: string, answer: "approved" | "rejected", change: object = {}): RunEvent {
  return {
    type: "approval.resolved",
    callId,
    approvalId: `apr_${callId}`,
    answer,
    by: { kind: "person", id: "dana" },
    argsHash: "h",
    ...change,
  } as RunEvent;
}

export function callStarted(callId: string, attempt = 1, fence = 1): RunEvent {
  return { type: "call.started", callId, attempt, idempotencyKey: callId, recovery: "keyed", fence };
}

export function callSettled(callId: string, outcome: CallOutcome = OK, attempt: number | undefined = 1): RunEvent {
  return { type: "call.settled", callId, outcome, ...(attempt === undefined ? {} : { attempt }) };
}

/** Folds events one millisecond apart, starting at 0. */
export function folded(...events: readonly RunEvent[]): RunState {
  const state = fold(entries(...events));
  if (state === undefined) throw new Error("no state");
  return state;
}

export function entries(...events: readonly RunEvent[]): Entry[] {
  return events.map((event, at) => ({ at, event }));
}

/** A run whose model has just asked for these calls. */
export function open(...calls: readonly PreparedCall[]): RunEvent[] {
  return [started(), SEGMENT, REQUESTED, replied(...calls)];
}

/** A reply of the model of any kind. */
export function output(of: ModelOutput, change: object = {}): RunEvent {
  return {
    ...{ type: "model.replied", output: of, usage: { inputTokens: 7, outputTokens: 3 }, costNanoUsd: 11 },
    ...change,
  };
}

export const UNREADABLE: RunEvent = output({ kind: "unreadable", problem: "no JSON" });
export const CANCEL: RunEvent = { type: "run.cancel_requested", by: { kind: "person", id: "pat" } };
