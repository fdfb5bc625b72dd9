import type { CallOutcome, CallState, PreparedCall } from "./call.ts";
import type { AfterRefusal, AgentStamp, MemoryTurn, Principal, ProviderData, Reservation } from "./event.ts";
import type { Limits } from "./limits.ts";
import type { Termination } from "./termination.ts";

export type Phase = "PLAN" | "CALL_MODEL" | "EXECUTE_TOOLS" | "OBSERVE" | "AWAIT_APPROVAL" | "DONE" | "FAILED";

/** One row of the transition log. `step` counts the model calls made so far. */
export interface PhaseChange {
  readonly step: number;
  readonly from: Phase;
  readonly to: Phase;
  readonly reason: string;
}

export type Message =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly PreparedCall[];
      readonly providerData?: ProviderData;
    }
  | { readonly role: "tool"; readonly callId: string; readonly tool: string; readonly outcome: CallOutcome }
  /** A word of the harness itself, such as a request to reply in the agreed format. */
  | { readonly role: "harness"; readonly text: string };

export interface UsageTotal {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Known cost so far; a call of unknown price adds nothing here and sets `costUnknown`. */
  readonly costNanoUsd: number;
  readonly costUnknown: boolean;
  /** At least one call was charged at its reservation because its real usage was not reported. */
  readonly estimated: boolean;
}

export interface OpenReservation {
  readonly reservationId: string;
  readonly budget: string;
  readonly amount: number;
  /** The id of the call that it is for; absent: a model call. */
  readonly forCall?: string;
}

export interface Compaction {
  readonly step: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly results: number;
}

export interface QueuedMessage {
  readonly messageId: string;
  readonly text: string;
  readonly principal: Principal;
  readonly nextRunId: string;
  readonly offeredTools?: readonly string[];
}

/** Where a run stands. Pure data: it holds no functions and is never stored, only folded from the journal. */
export interface RunState {
  readonly agent: AgentStamp;
  /** Id of the model that the run asked last, or was started with; absent in a run of given calls, and in old ones. */
  readonly model?: string;
  readonly tenant: string;
  readonly principal: Principal;
  readonly conversationId: string;
  readonly input: string;
  readonly offeredTools?: readonly string[];
  readonly memory: readonly MemoryTurn[];
  readonly limits: Limits;
  readonly onReject: AfterRefusal;
  readonly onExpiry: AfterRefusal;
  readonly onWorldChanged: AfterRefusal;
  /** The run makes the calls that it was started with, and asks no model. */
  readonly endsAfterTurn?: true;

  readonly phase: Phase;
  readonly step: number;
  readonly phaseChanges: readonly PhaseChange[];
  readonly messages: readonly Message[];
  /** Calls of the current turn, in the model's order. */
  readonly turn: readonly CallState[];
  /** Settled calls of earlier turns. */
  readonly earlierCalls: readonly CallState[];
  /** Tool and canonical arguments of every call asked for, in order, refused ones included. */
  readonly callKeys: readonly string[];
  readonly invalidCalls: number;
  readonly unreadableInRow: number;
  readonly usage: UsageTotal;
  /** Set between `model.requested` and its reply. */
  readonly openRequest?: Reservation;
  readonly openBudgets: readonly OpenReservation[];
  /** Model calls that failed since the last reply and are made again. */
  readonly retriesInRow: number;
  /** All such calls of the run; they are no steps to the limit of steps. */
  readonly retries: number;
  /** No model call before this time. */
  readonly retryAt?: number;

  readonly workedMs: number;
  /** Time of the segment's last own entry; absent before the first segment. */
  readonly segmentLastAt?: number;
  readonly fence: number;
  readonly lastAt: number;

  /** Each time older tool results were replaced by summaries. `step` is that of the model call which followed. */
  readonly compactions: readonly Compaction[];
  /** What stands in for a tool result in the context, by call id; the result itself stays in the journal. */
  readonly summaries: Readonly<Record<string, string>>;

  readonly queued: readonly QueuedMessage[];
  readonly followedBy?: string;
  readonly answer?: string;
  /** The run will end with this as soon as nothing of it is running; nothing new starts. */
  readonly ending?: Termination;
  readonly termination?: Termination;
}
