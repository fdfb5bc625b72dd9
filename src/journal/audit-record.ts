import { hash } from "node:crypto";
import { canonicalJson } from "../audit/index.ts";
import {
  type CallOutcome,
  type Entry,
  type Principal,
  type RunEvent,
  type StoredValue,
  terminationCode,
} from "../core/index.ts";
import type { EventPlace } from "./project-commit.ts";
import type { EventOf, RunKey } from "./store.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What an audit record needs besides the event. */
export interface AuditSource extends EventPlace {
  readonly run: RunKey;
  readonly seq: number;
  readonly entry: Entry;
  /** SHA-256 of the event as stored, which binds the record to it, byte for byte. */
  readonly eventHash: string;
  /** For whom the run works. */
  readonly principal: Principal;
}

/**
 * The audit record of an event, or undefined for one that the next record of the run vouches for.
 *
 * Pure. Shape: `{ tenant, principal, run, seq, at, type, eventHash, journalHash, … }`. `eventHash` is the SHA-256 of
 * the stored event, so the record vouches for all of it while texts, results and notes stay out of a log that cannot
 * forget. `journalHash` (see `journalLink`) vouches for every event of the run before it as well. The arguments of
 * calls are in it: they are what an auditor asks for.
 */
export function auditRecordOf(source: AuditSource): Fields | undefined {
  const { run, seq, entry, eventHash, journalHash, isAfterEnd, principal } = source;
  const fields = fieldsOf(entry.event, isAfterEnd);
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
    eventHash,
    journalHash,
    ...fields,
  };
}

/** Whether `auditRecordOf` makes a record of this event; of what follows the end of its run it always does. */
export function isAudited(event: RunEvent, isAfterEnd = false): boolean {
  return fieldsOf(event, isAfterEnd) !== undefined;
}

/** After the end every event has a record, because no later one is sure to come and vouch for it. */
function fieldsOf(event: RunEvent, isAfterEnd: boolean): Fields | undefined {
  return ownFields(event) ?? (isAfterEnd ? {} : undefined);
}

function ownFields(event: RunEvent): Fields | undefined {
  switch (event.type) {
    case "run.started":
      return { agent: event.agent, conversation: event.conversationId };
    case "model.replied":
      return replied(event.output);
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
    case "call.reconciled":
      return reconciled(event);
    case "limit.reached":
      return { limit: event.limit, detail: event.detail };
    case "message.queued":
      return queued(event);
    case "run.cancel_requested":
      return { by: event.by };
    case "run.followed":
      return { nextRunId: event.nextRunId };
    case "run.retired":
      return { by: event.by, termination: event.termination, audit: event.audit };
    case "run.ended":
      return { termination: terminationCode(event.termination) };
    default:
      return undefined;
  }
}

function replied(output: EventOf<"model.replied">["output"]): Fields | undefined {
  switch (output.kind) {
    case "calls":
      return callsRequested(output.calls);
    case "final":
      return { answerHash: sha256(output.text) };
    default:
      return undefined;
  }
}

/** Who said it is in the record, what was said only as its hash. */
function queued({ messageId, nextRunId, principal, text }: EventOf<"message.queued">): Fields {
  return { messageId, nextRunId, by: { kind: principal.kind, id: principal.id }, textHash: sha256(text) };
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
  return { status: "ok", valueHash: valueHash(result.value) };
}

/** The note stays out, as every other text does; the event's hash vouches for it. */
function reconciled({ callId, outcome: found, value, by, source }: EventOf<"call.reconciled">): Fields {
  return {
    callId,
    outcome: found,
    by,
    ...(value === undefined ? {} : { valueHash: valueHash(value) }),
    ...(source === undefined ? {} : { source }),
  };
}

function valueHash({ blob, json }: StoredValue): string {
  return blob?.sha256 ?? sha256(canonicalJson(json ?? null));
}

function sha256(text: string): string {
  return hash("sha256", text);
}
