import { hash } from "node:crypto";
import { canonicalJson } from "../audit/index.ts";
import { type CallOutcome, type Entry, type Principal, type RunEvent, terminationCode } from "../core/index.ts";
import type { EventOf, RunKey } from "./store.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What an audit record needs besides the event. */
export interface AuditSource {
  readonly run: RunKey;
  readonly seq: number;
  readonly entry: Entry;
  /** The event as stored; its hash binds the record to the journal, byte for byte. */
  readonly text: string;
  /** For whom the run works. */
  readonly principal: Principal;
}

/**
 * The audit record of an event, or undefined for an event that is neither a decision nor an effect.
 *
 * Pure. Shape: `{ tenant, principal, run, seq, at, type, eventHash, … }`. `eventHash` is the SHA-256 of the stored
 * event, so the record vouches for all of it while texts, results and notes stay out of a log that cannot forget.
 * The arguments of calls are in it: they are what an auditor asks for.
 */
export function auditRecordOf({ run, seq, entry, text, principal }: AuditSource): Fields | undefined {
  const fields = fieldsOf(entry.event);
  if (fields === undefined) {
    return undefined;
  }
  return {
    tenant: run.tenant,
    principal: { kind: principal.kind, id: principal.id },
    run: run.runId,
    seq,
    at: entry.at,
    type: entry.event.type,
    eventHash: sha256(text),
    ...fields,
  };
}

/** Whether `auditRecordOf` makes a record of this event. */
export function isAudited(event: RunEvent): boolean {
  return fieldsOf(event) !== undefined;
}

function fieldsOf(event: RunEvent): Fields | undefined {
  switch (event.type) {
    case "run.started":
      return { agent: event.agent, conversation: event.conversationId };
    case "model.replied":
      return event.output.kind === "calls" ? callsRequested(event.output.calls) : undefined;
    case "call.decided":
      return decided(event);
    case "approval.requested":
    case "approval.resolved":
    case "approval.expired":
      return approval(event);
    case "call.started":
      return started(event);
    case "call.settled":
      return {
        callId: event.callId,
        ...outcome(event.outcome),
        ...(event.attempt === undefined ? {} : { attempt: event.attempt }),
      };
    case "call.outcome_observed":
      return {
        callId: event.callId,
        attempt: event.attempt,
        differs: event.differs,
        ...outcome(event.outcome),
      };
    case "limit.reached":
      return { limit: event.limit, detail: event.detail };
    case "run.cancel_requested":
      return { by: event.by };
    case "run.ended":
      return { termination: terminationCode(event.termination) };
    default:
      return undefined;
  }
}

function callsRequested(calls: Extract<EventOf<"model.replied">["output"], { kind: "calls" }>["calls"]): Fields {
  return {
    // What the reply means for an auditor, instead of the name of the event.
    type: "call.requested",
    calls: calls.map(({ callId, tool, args, refusal, notes }) => ({
      callId,
      tool,
      args,
      ...(refusal === undefined ? {} : { refused: refusal.code }),
      ...(notes === undefined ? {} : { notes }),
    })),
  };
}

function decided({ callId, decision, recheck }: EventOf<"call.decided">): Fields {
  const { verdict, code, ruleId, reason } = decision;
  return { callId, verdict, code, ruleId, reason, ...(recheck === undefined ? {} : { recheck }) };
}

function approval(event: EventOf<"approval.requested" | "approval.resolved" | "approval.expired">): Fields {
  const { callId, approvalId } = event;
  switch (event.type) {
    case "approval.requested": {
      const { argsHash, contractHash, policyHash, revision, expiresAt } = event;
      return { callId, approvalId, argsHash, contractHash, policyHash, revision, expiresAt };
    }
    case "approval.resolved":
      return { callId, approvalId, answer: event.answer, by: event.by, argsHash: event.argsHash };
    case "approval.expired":
      return { callId, approvalId };
  }
}

function started({ callId, attempt, idempotencyKey, recovery, fence }: EventOf<"call.started">): Fields {
  return { callId, attempt, idempotencyKey, recovery, fence };
}

function outcome(result: CallOutcome): Fields {
  if (result.status !== "ok") {
    return { status: result.status, code: result.error.code };
  }
  const { blob, json } = result.value;
  return { status: "ok", valueHash: blob?.sha256 ?? sha256(canonicalJson(json ?? null)) };
}

function sha256(text: string): string {
  return hash("sha256", text);
}
