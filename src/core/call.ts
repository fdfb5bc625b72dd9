import type { JsonValue } from "./canonical-json.ts";
import type { Principal } from "./event.ts";

/** How much harm a tool can do. Rules read this; the model never does. */
export type PermissionLevel = "read" | "write" | "admin" | "irreversible";

/**
 * What may be done with a call whose outcome was lost in a crash.
 *
 * `read`: repeat freely. `keyed`: repeat with the same idempotency key. `queryable`: wait until the intent is older
 * than the tool's timeout, look the outcome up, then act. `opaque`: never repeat; the outcome is unknown.
 */
export type RecoveryClass = "read" | "keyed" | "queryable" | "opaque";

/** A failure as data. The message is written for a model and never holds raw exception text. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Structured help, such as the path and the expected schema of a wrong argument. */
  readonly details?: JsonValue;
}

/** One tool call of a turn, after parsing and the schema check and before any rule. */
export interface PreparedCall {
  /** Unique in the run and made by the harness; what the model called it does not matter. */
  readonly callId: string;
  readonly tool: string;
  /** The validated arguments: what a person is shown and what the tool receives. */
  readonly args: JsonValue;
  /** Of the arguments as the model wrote them, when they could not be read and `args` is null. */
  readonly textHash?: string;
  /** `change` calls of a run never overlap; `read` calls run at once. */
  readonly effect: "read" | "change";
  /** Set when the call is refused before any rule looks at it: unknown tool, bad JSON, wrong arguments. */
  readonly refusal?: ToolError;
  /** Telemetry on the arguments; no decision follows from it. */
  readonly notes?: readonly JsonValue[];
}

/** What a tool gave back. A value above the inline limit is kept as a blob and referred to by its hash. */
export interface StoredValue {
  readonly json?: JsonValue;
  readonly blob?: { readonly sha256: string; readonly bytes: number };
}

/** How a call ended. Every call of a run gets exactly one of these. */
export type CallOutcome =
  | { readonly status: "ok"; readonly value: StoredValue; readonly view?: JsonValue; readonly untrusted?: boolean }
  | { readonly status: OutcomeFailure; readonly error: ToolError; readonly view?: JsonValue };

/**
 * `refused`: schema, unknown tool or a cap. `denied`: a rule. `rejected`, `expired`: approval. `world_changed`: the
 * policy said no at the last moment. `failed`: the tool said no. `unknown`: nobody knows whether it happened.
 * `not_run`: the run ended first.
 */
export type OutcomeFailure =
  | "refused"
  | "denied"
  | "rejected"
  | "expired"
  | "world_changed"
  | "failed"
  | "unknown"
  | "not_run";

/** A closed type: whatever a rule returns that is not one of these fails closed. */
export type VerdictKind = "allow" | "deny" | "ask" | "halt";

/** What the policy said about one call, and which rule said it. */
export interface Decision {
  readonly verdict: VerdictKind;
  readonly code: string;
  readonly reason: string;
  readonly ruleId: string;
  /** Codes of further questions that other rules ask; a person's yes covers all of them together. */
  readonly also?: readonly string[];
  /** What the rules that were asked read, as they told. */
  readonly reads?: JsonValue;
}

/** What an approval is bound to. Any difference at the time of the decision makes it void. */
export interface ApprovalPins {
  readonly argsHash: string;
  readonly contractHash: string;
  readonly policyHash: string;
  readonly revision: string;
}

export interface ApprovalState extends ApprovalPins {
  readonly approvalId: string;
  readonly code: string;
  /** Every code that the question names. */
  readonly codes: readonly string[];
  readonly reason: string;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly approvedBy?: string;
  readonly approvedAt?: number;
}

/** What a person found out about a call whose outcome nobody knew. */
export interface Reconciliation {
  readonly outcome: "happened" | "did_not_happen";
  /** What the call gave; only with `happened`. Without it, nothing can take the call back by itself. */
  readonly value?: StoredValue;
  readonly by: Principal;
  /** Where the person looked; for people, never shown to a model. */
  readonly note: string;
  /** The tool's own `lookup` said so, and the person took its word. */
  readonly source?: "lookup";
  readonly at: number;
}

export interface CallState {
  readonly call: PreparedCall;
  readonly step: number;
  /**
   * `requested` → (`asked` → `waiting` → `approved`) → `allowed` → `started` → `settled`; any of them may settle early.
   */
  readonly status: "requested" | "asked" | "waiting" | "approved" | "allowed" | "started" | "settled";
  readonly decision?: Decision;
  readonly approval?: ApprovalState;
  /** 0 before the first start. */
  readonly attempt: number;
  readonly startedAt?: number;
  /** Fencing token of the lease under which the last attempt started. */
  readonly fence?: number;
  readonly idempotencyKey?: string;
  /** As recorded with the intent: a later change of the tool does not change what may be done about this attempt. */
  readonly recovery?: RecoveryClass;
  /** Milliseconds after `startedAt` by which the last attempt of a queryable call is over. */
  readonly overAfterMs?: number;
  readonly outcome?: CallOutcome;
  /** Beside an `unknown` outcome, which stays what the run itself knew. */
  readonly reconciled?: Reconciliation;
}
