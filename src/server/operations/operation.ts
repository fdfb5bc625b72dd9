import type { JsonValue } from "../../core/index.ts";
import type { ApprovalRow, RunKey } from "../../journal/index.ts";
import type { SignedIn } from "../deps.ts";

export type Permission = "read" | "operate" | "decide" | "reconcile";

/** What people do, with every check in it: the routes of the API and the forms of the pages call the same functions. */
export interface Operations {
  /** Whether the roles allow it at all; a single question may still be closed to this person. */
  may(by: SignedIn, permission: Permission): boolean;
  /** Throws the BELAY_* errors of the API, each with a status of its own. */
  startRun(by: SignedIn, request: StartRunRequest): Promise<StartedRun>;
  /** A message to the conversation of a run: it starts a run or waits behind the unfinished one. */
  sendMessage(by: SignedIn, request: SendMessageRequest): Promise<SentMessage>;
  decide(by: SignedIn, request: DecisionRequest): Promise<Decided>;
  cancel(by: SignedIn, runId: string, reason?: string): Promise<"recorded" | "already_ended">;
  /** What a person found out about a call whose outcome nobody knew. */
  reconcile(by: SignedIn, request: ReconcileRequest): Promise<Reconciled>;
  /** Who must agree to this question, who has, and whether `by` may answer. */
  quorum(by: SignedIn, approval: ApprovalRow): Quorum;
}

export interface StartRunRequest {
  readonly app: string;
  readonly input: string;
  /** For whom the run works; default the person who starts it. */
  readonly customer?: string;
  readonly conversationId?: string;
  readonly offeredTools?: readonly string[];
  /** The same key with the same request starts one run. */
  readonly idempotencyKey?: string;
}

export interface StartedRun {
  readonly run: RunKey;
  readonly conversationId: string;
  /** The key was known and nothing was started now. */
  readonly isReplay: boolean;
}

export interface SendMessageRequest {
  readonly runId: string;
  readonly text: string;
  readonly idempotencyKey?: string;
}

export interface SentMessage {
  readonly status: "started" | "queued";
  readonly run: RunKey;
  /** The unfinished run that a queued message waits for. */
  readonly behind?: RunKey;
  readonly isReplay: boolean;
}

export interface DecisionRequest {
  readonly approvalId: string;
  readonly answer: "approve" | "reject";
  readonly reason?: string;
  /** `argsHash` of the arguments that the person was shown. */
  readonly argsHash: string;
  /** How long to wait for the second look at the world, which may still say no. */
  readonly waitMs?: number;
}

/** What became of an answer. Everything but `recorded` and `collected` has changed nothing. */
export type Decided =
  /** The question is answered. `isLookedAt`: the rules have looked at today's world since, and let the call through. */
  | { readonly status: "recorded"; readonly approval: ApprovalRow; readonly isLookedAt: boolean }
  /** One more yes of several that are needed. */
  | { readonly status: "collected"; readonly approval: ApprovalRow; readonly quorum: Quorum }
  | { readonly status: "unknown" }
  | { readonly status: "already_decided"; readonly approval: ApprovalRow }
  | { readonly status: "expired"; readonly approval: ApprovalRow }
  | { readonly status: "not_permitted"; readonly reason: string }
  | { readonly status: "digest_mismatch"; readonly approval: ApprovalRow }
  /** The answer is recorded, and the rules said no when they looked again: the call was not made. */
  | {
      readonly status: "world_changed";
      readonly approval: ApprovalRow;
      readonly code: string;
      readonly reason: string;
    };

export interface ReconcileRequest {
  readonly runId: string;
  /** Unique within its run alone. */
  readonly callId: string;
  readonly outcome: "happened" | "did_not_happen";
  /** What the call gave, when it happened; needed to take it back. */
  readonly value?: JsonValue;
  /** How the person knows. */
  readonly note: string;
}

export interface Reconciled {
  readonly run: RunKey;
  readonly callId: string;
  readonly outcome: "happened" | "did_not_happen";
}

export interface Quorum {
  /** Distinct people that must say yes. */
  readonly needed: number;
  /** Who has said yes so far and still may. */
  readonly given: readonly Vote[];
  /** Why this person may not answer; absent when they may. */
  readonly refusal?: string;
}

export interface Vote {
  readonly personId: string;
  readonly name: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
