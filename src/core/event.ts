import type { ApprovalPins, CallOutcome, Decision, PreparedCall, Reconciliation, RecoveryClass } from "./call.ts";
import type { JsonValue } from "./canonical-json.ts";
import type { Limits } from "./limits.ts";
import type { LimitId, Termination } from "./termination.ts";
import { UPCASTERS } from "./upcast.ts";

/** Who caused a run or a decision. `agent` can never decide an approval. */
export interface Principal {
  readonly kind: "customer" | "person" | "agent" | "system";
  readonly id: string;
}

/** One earlier exchange of the conversation. It may be out of date and is labelled so for the model. */
export interface MemoryTurn {
  readonly user: string;
  readonly assistant: string;
}

export interface AgentStamp {
  readonly name: string;
  readonly revision: string;
  readonly policyHash: string;
  /** Over the contracts of all tools; when it changes, calls that were asked for before are checked again. */
  readonly toolsHash?: string;
}

/** Tokens of one model call; `estimated` when the provider did not say and the reservation was charged. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input: read from the provider's cache. */
  readonly cacheReadTokens?: number;
  /** Of the input: written to the provider's cache. */
  readonly cacheWriteTokens?: number;
  readonly estimated?: boolean;
}

/** The most that a model call may use, reserved before it is made. `costNanoUsd` is absent when the price is unknown. */
export interface Reservation {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costNanoUsd?: number;
}

/** What a provider wants back with a message of its model, such as signed reasoning. The harness never reads it. */
export interface ProviderData {
  /** The only model that it goes back to. */
  readonly model: string;
  readonly data: JsonValue;
}

export type ModelOutput =
  | { readonly kind: "final"; readonly text: string }
  | {
      readonly kind: "calls";
      readonly text: string;
      readonly calls: readonly PreparedCall[];
      readonly providerData?: ProviderData;
    }
  | { readonly kind: "unreadable"; readonly problem: string };

/**
 * What happened. The journal is a list of these, and nothing else decides a run's state.
 *
 * Events are deltas: none repeats the prompt. Shapes may grow optional fields; any other change is a new schema number.
 */
export type RunEvent =
  | {
      readonly type: "run.started";
      readonly agent: AgentStamp;
      /** The model that the run was started with; each request names its own. Absent when it asks none. */
      readonly model?: string;
      readonly tenant: string;
      readonly principal: Principal;
      readonly conversationId: string;
      readonly input: string;
      readonly limits: Limits;
      /** Absent: every tool of the agent. */
      readonly offeredTools?: readonly string[];
      readonly memory?: readonly MemoryTurn[];
      readonly onReject: AfterRefusal;
      readonly onExpiry: AfterRefusal;
      readonly onWorldChanged: AfterRefusal;
      /** The run makes the calls that it was started with, and asks no model. */
      readonly endsAfterTurn?: true;
    }
  | { readonly type: "segment.started"; readonly worker: string; readonly fence: number; readonly agent?: AgentStamp }
  | { readonly type: "model.requested"; readonly model?: string; readonly reserved: Reservation }
  | {
      readonly type: "model.replied";
      readonly step?: number;
      readonly output: ModelOutput;
      readonly usage: Usage;
      /** Absent when the price is unknown: unknown is never zero. */
      readonly costNanoUsd?: number;
    }
  | {
      readonly type: "model.failed";
      readonly step?: number;
      readonly code: string;
      readonly detail: string;
      /** The call is made again, not before this time; absent: the run ends. */
      readonly retryAt?: number;
      /** The provider took the request up at all only if this is absent; then the reservation is charged. */
      readonly notCharged?: true;
    }
  /** Summaries are about to be asked of a model; without a `context.compacted` after it the reservation is charged. */
  | { readonly type: "context.summarising"; readonly reserved: Reservation }
  | {
      readonly type: "context.compacted";
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** What stands in for older tool results from now on, by call id. */
      readonly summaries: readonly { readonly callId: string; readonly text: string }[];
      /** Of the summarising model call, when a model made the summaries. */
      readonly usage?: Usage;
      readonly costNanoUsd?: number;
    }
  | { readonly type: "limit.reached"; readonly limit: LimitId; readonly detail: string }
  | {
      readonly type: "call.decided";
      readonly callId: string;
      readonly decision: Decision;
      /** A person has approved and today's world was looked at. */
      readonly recheck?: true;
      /** With `recheck` and `ask`: the answer given does not cover this question, whatever its code. */
      readonly asksAgain?: true;
    }
  | ({
      readonly type: "approval.requested";
      readonly callId: string;
      readonly approvalId: string;
      readonly expiresAt: number;
    } & ApprovalPins)
  | {
      readonly type: "approval.resolved";
      readonly callId: string;
      readonly approvalId: string;
      readonly answer: "approved" | "rejected";
      readonly by: Principal;
      readonly argsHash: string;
      readonly note?: string;
    }
  | { readonly type: "approval.expired"; readonly callId: string; readonly approvalId: string }
  | {
      readonly type: "call.started";
      readonly callId: string;
      readonly attempt: number;
      readonly idempotencyKey: string;
      readonly recovery: RecoveryClass;
      readonly fence: number;
      /**
       * Of a queryable call: the attempt is over so many milliseconds after this event, whatever became of its worker.
       * Recorded, because the program that asks may be a later one with other times.
       */
      readonly overAfterMs?: number;
    }
  | {
      readonly type: "call.settled";
      readonly callId: string;
      readonly outcome: CallOutcome;
      /** Attempt whose outcome this is; absent when the call was never started. */
      readonly attempt?: number;
      readonly durationMs?: number;
      readonly notes?: readonly JsonValue[];
    }
  | {
      readonly type: "call.outcome_observed";
      readonly callId: string;
      readonly attempt: number;
      readonly outcome: CallOutcome;
      readonly differs: boolean;
    }
  /** A person found out what became of a call whose outcome nobody knew. The first stands; an ended run stays ended. */
  | ({ readonly type: "call.reconciled"; readonly callId: string } & Omit<Reconciliation, "at">)
  | {
      readonly type: "budget.reserved";
      readonly reservationId: string;
      readonly budget: string;
      readonly amount: number;
      readonly limit: number;
      /** The id of the call that the amount is for; absent: a model call. */
      readonly forCall?: string;
    }
  | {
      readonly type: "budget.settled";
      readonly reservationId: string;
      readonly budget: string;
      readonly amount: number;
    }
  | { readonly type: "budget.released"; readonly reservationId: string; readonly budget: string }
  | {
      readonly type: "message.queued";
      readonly messageId: string;
      readonly text: string;
      readonly principal: Principal;
      readonly nextRunId: string;
      readonly offeredTools?: readonly string[];
    }
  | { readonly type: "run.cancel_requested"; readonly by: Principal; readonly note?: string }
  | { readonly type: "run.ended"; readonly termination: Termination }
  | { readonly type: "run.followed"; readonly nextRunId: string }
  /**
   * The time to keep the run is over: the events before this one were removed from the journal, which only a store's
   * retention does. What must outlive them is here.
   */
  | ({ readonly type: "run.retired"; readonly by: Principal } & RetiredRun);

/** What is kept of a run whose events were removed: no text that a person, a model or a tool has written. */
export interface RetiredRun {
  readonly agent: string;
  readonly conversationId: string;
  readonly principal: Principal;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly termination: string;
  /** Hash of the run's journal up to its last removed event, as the audit record of that event has it. */
  readonly journalHash: string;
  /** What the run had used of shared budgets. */
  readonly budgets: readonly { readonly budget: string; readonly used: number }[];
  /** The audit log before this event. */
  readonly audit: { readonly size: number; readonly root: string };
}

/** What happens to the run after a person said no, nobody answered in time, or the world moved on. */
export type AfterRefusal = "tell_model" | "end_run";

/** One event with its time. `at` is milliseconds since the epoch and never goes backwards within a run. */
export interface Entry {
  readonly at: number;
  readonly event: RunEvent;
}

/** The version of the event shapes that this code writes; older ones are brought up as they are read. */
export const EVENT_SCHEMA: number = UPCASTERS.length + 1;
