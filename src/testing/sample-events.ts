import { DEFAULT_LIMITS, type JsonValue, type PreparedCall, type Principal, type RunEvent } from "../core/index.ts";

/** Time of the sample events: whole milliseconds, far from the real clock. */
export const SAMPLE_AT = 1_700_000_000_000;

const CUSTOMER: Principal = { kind: "customer", id: "c-1" };

export function runStarted(tenant = "default", conversationId = "cnv-1", agent = "clerk"): RunEvent {
  return {
    type: "run.started",
    agent: { name: agent, revision: "1", policyHash: "policy" },
    tenant,
    principal: CUSTOMER,
    conversationId,
    input: "refund order 7",
    limits: DEFAULT_LIMITS,
    onReject: "tell_model",
    onExpiry: "tell_model",
    onWorldChanged: "tell_model",
  };
}

export function sampleCall(callId: string, args: JsonValue = { order: 7 }): PreparedCall {
  return { callId, tool: "refund", args, effect: "change" };
}

export function repliedCalls(...calls: readonly PreparedCall[]): RunEvent {
  return {
    type: "model.replied",
    output: { kind: "calls", text: "", calls },
    usage: { inputTokens: 1, outputTokens: 1 },
  };
}

export function repliedFinal(text: string): RunEvent {
  return { type: "model.replied", output: { kind: "final", text }, usage: { inputTokens: 1, outputTokens: 1 } };
}

export function callDecided(callId: string, verdict: "allow" | "ask" = "ask"): RunEvent {
  const decision = { verdict, code: "ABOVE_AUTO", reason: "above the limit", ruleId: "amount" };
  return { type: "call.decided", callId, decision };
}

export function approvalRequested(callId: string, approvalId: string): RunEvent {
  const pins = { argsHash: "args", contractHash: "contract", policyHash: "policy", revision: "1" };
  return { type: "approval.requested", callId, approvalId, expiresAt: SAMPLE_AT + 1000, ...pins };
}

export function approvalResolved(callId: string, approvalId: string, answer: "approved" | "rejected"): RunEvent {
  const by: Principal = { kind: "person", id: "p-1" };
  return { type: "approval.resolved", callId, approvalId, answer, by, argsHash: "args", note: "seen" };
}

export function callSettled(callId: string, json: JsonValue = { ok: true }): RunEvent {
  return { type: "call.settled", callId, outcome: { status: "ok", value: { json } }, attempt: 1 };
}

export function budgetReserved(reservationId: string, amount: number, limit = 100, budget = "team"): RunEvent {
  return { type: "budget.reserved", reservationId, budget, amount, limit };
}

export function messageQueued(nextRunId: string): RunEvent {
  return { type: "message.queued", messageId: `msg-${nextRunId}`, text: "and then?", principal: CUSTOMER, nextRunId };
}

export function runEnded(kind: "completed" | "cancelled" = "completed"): RunEvent {
  return { type: "run.ended", termination: kind === "completed" ? { kind } : { kind, by: "p-1" } };
}
