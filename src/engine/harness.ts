import type { Clock } from "../clock.ts";
import type { CallState, Entry, JsonValue, Principal, RunState, Termination, UsageTotal } from "../core/index.ts";
import type { IdPrefix } from "../ids.ts";
import type { ApprovalRow, RunKey, Store, StoredEntry } from "../journal/index.ts";
import type { ModelClient, PriceTable, RequestedCall } from "../model/index.ts";
import type { Agent } from "./agent.ts";
import type { Waker } from "./waker.ts";

export interface HarnessOptions {
  readonly agent: Agent;
  readonly model: ModelClient;
  readonly store: Store;
  readonly clock?: Clock;
  readonly prices?: PriceTable;
  /** Durable wake-ups. Default: none, until `work()` serves wake-ups of this process. */
  readonly waker?: Waker;
  /** Shared budgets in nano-dollars, reserved before each model call: `{ name: limit }`. */
  readonly budgets?: Readonly<Record<string, number>>;
  /** Name of this worker in leases and segments; default random. */
  readonly worker?: string;
  /** Runs that are driven at once; a further one waits for its turn. Default 64. */
  readonly runsMax?: number;
  /** Runs of the store that wait for a worker, at which new ones are refused with BELAY_OVERLOADED. Default 1,000. */
  readonly queueMax?: number;
  /** Milliseconds after which another worker may take over a silent one. Default 15,000. */
  readonly leaseMs?: number;
  /** Milliseconds after which a model call without a reply has failed. Default 120,000. */
  readonly modelTimeoutMs?: number;
  /** Goes on also with runs that have asked another model, which is else BELAY_RUN_OTHER_MODEL. Default false. */
  readonly allowOtherModel?: boolean;
  /** What is done about a model that is throttled or not there; defaults in `model-failure.ts`. */
  readonly modelRetry?: ModelRetryOptions;
  /** Persons that may decide approvals; see `approval/`. Default: any `person`, and never the requester or an agent. */
  readonly mayDecide?: (by: Principal, approval: ApprovalRow) => boolean;
  /** Makes run, approval and message ids; default random. Tests pass a counter. */
  readonly newId?: (prefix: IdPrefix) => string;
  /** Told of what a person should look at: an outcome that differs from the record, a hook that threw. */
  readonly onAlarm?: (alarm: Alarm) => void;
  /** Told of each piece of a reply while the model writes it. Nothing of it is recorded, and it may come again. */
  readonly onDelta?: (run: RunKey, text: string) => void;
}

/** Attempts that the harness makes of one model call, beside those that an adapter makes by itself. */
export interface ModelRetryOptions {
  /** In all, the first included. Default 4; 1: none is repeated. */
  readonly attemptsMax?: number;
  /** Milliseconds before the second attempt; doubled each time. Default 1,000, and 30,000 after an adapter that retries. */
  readonly delayMs?: number;
  /** Longest wait in milliseconds; a provider that asks for more is not asked again. Default 600,000. */
  readonly delayMaxMs?: number;
}

export interface Alarm {
  readonly code:
    | "OUTCOME_DIFFERS"
    | "OUTCOME_UNKNOWN"
    | "FILTER_FAILED"
    | "STATE_TAMPERED"
    | "POLICY_ERROR"
    | "MODEL_FAILED"
    | "TOOL_FAILED"
    | "LEASE_LOST"
    | "APPROVED_NOT_TAKEN"
    | "RUN_NOT_TAKEN"
    | "RUN_STUCK"
    | "RUN_OTHER_MODEL"
    | "RUN_FAILED";
  readonly run: RunKey;
  readonly detail: string;
  /** The exception behind it, for the operator's own eyes; it reaches no model, page or record. */
  readonly cause?: unknown;
}

export interface StartOptions {
  readonly tenant?: string;
  readonly principal?: Principal;
  /** Continues a conversation; default a new one. */
  readonly conversationId?: string;
  /** Names the run; starting the same run twice starts it once. */
  readonly runId?: string;
  /** Tools offered for this task; default all of the agent. */
  readonly offeredTools?: readonly string[];
  /** The run makes these calls, through every control, and ends; no model is asked. */
  readonly calls?: readonly RequestedCall[];
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal;
  /** Stops driving the run at a safe place when it aborts; the run stays unfinished, and a worker goes on with it. */
  readonly stop?: AbortSignal;
  readonly onDelta?: (text: string) => void;
}

/** Where a run is when its handle resolves: ended, or waiting for people. */
export interface RunResult extends RunKey {
  readonly conversationId: string;
  /**
   * `waiting`: for people or for time, or the caller stopped it. `busy`: another worker has the run, also when it took
   * it from this one; what it comes to is there, and `advance` again tells it.
   */
  readonly status: "done" | "failed" | "waiting" | "busy";
  readonly termination?: Termination;
  /** The agent's own word for the termination. */
  readonly label?: string;
  /** The model's final answer. */
  readonly answer?: string;
  readonly approvals: readonly ApprovalRow[];
  readonly usage: UsageTotal;
  readonly state: RunState;
  readonly calls: readonly CallState[];
  /** The run that a queued message started when this one ended. */
  readonly nextRun?: RunKey;
}

/** A run is an async iterable of its recorded entries plus a promise of the result. */
export interface RunHandle extends RunKey, AsyncIterable<StoredEntry> {
  readonly result: Promise<RunResult>;
}

export type DecideOutcome =
  | { readonly status: "recorded"; readonly run: RunKey }
  | { readonly status: "already_decided"; readonly approval: ApprovalRow }
  | { readonly status: "unknown_approval" }
  | { readonly status: "expired"; readonly approval: ApprovalRow }
  | { readonly status: "not_permitted"; readonly reason: string }
  | { readonly status: "digest_mismatch"; readonly approval: ApprovalRow };

export interface DecideRequest {
  readonly tenant?: string;
  readonly approvalId: string;
  readonly answer: "approved" | "rejected";
  /** Authenticated identity of the person; model output and history can never reach this. */
  readonly by: Principal;
  readonly note?: string;
  /** What the person was shown; when given and different from the record, nothing is decided. */
  readonly argsHash?: string;
}

/** What a person found out about a call whose outcome nobody knew. */
export interface ReconcileRequest {
  readonly run: RunKey;
  readonly callId: string;
  readonly outcome: "happened" | "did_not_happen";
  /** What the call gave; only with `happened`. Without it the call cannot be taken back by its own compensation. */
  readonly value?: JsonValue;
  /** Authenticated identity; only a person, and never the one who asked for the run. */
  readonly by: Principal;
  /** How they know; kept, and never shown to a model. */
  readonly note: string;
  /** The answer is the one that `lookUp` gave. */
  readonly source?: "lookup";
}

export type ReconcileOutcome =
  | {
      readonly status: "recorded";
      readonly run: RunKey;
      readonly callId: string;
      readonly outcome: "happened" | "did_not_happen";
    }
  /** The first word stands, also when this one says the same. */
  | {
      readonly status: "already_reconciled";
      readonly outcome: "happened" | "did_not_happen";
      readonly by: Principal;
      readonly at: number;
      readonly note: string;
    }
  | { readonly status: "not_in_doubt" }
  | { readonly status: "unknown_call" }
  | { readonly status: "unknown_run" }
  | { readonly status: "not_permitted"; readonly reason: string };

/** What the far side says about a call in doubt; a proposal, of which nothing is recorded. */
export type LookupOutcome =
  | { readonly status: "found"; readonly outcome: "happened"; readonly value: JsonValue }
  | { readonly status: "found"; readonly outcome: "did_not_happen" }
  /** The attempt may still be under way until then. */
  | { readonly status: "too_early"; readonly notBefore: number }
  /** The far side gave no clear answer. */
  | { readonly status: "unavailable" }
  | { readonly status: "no_lookup" }
  | { readonly status: "not_in_doubt" }
  | { readonly status: "unknown_call" }
  | { readonly status: "unknown_run" };

export type MessageOutcome =
  | { readonly status: "started"; readonly run: RunKey }
  | { readonly status: "queued"; readonly behind: RunKey; readonly run: RunKey };

export interface Harness {
  readonly agent: Agent;
  readonly store: Store;
  /** Starts a run and drives it until it ends or waits. Throws BELAY_INPUT_* and BELAY_PRICE_UNKNOWN before anything is written. */
  run(input: string, options?: StartOptions): RunHandle;
  /** Records the start and returns at once; a worker or `advance` drives it. */
  start(input: string, options?: StartOptions): Promise<RunKey>;
  /** A message to a conversation: starts a run, or waits behind the unfinished one. It never answers an approval. */
  message(
    conversationId: string,
    text: string,
    options?: Omit<StartOptions, "conversationId">,
  ): Promise<MessageOutcome>;
  /** Goes on with a run until it ends or waits; safe to call at any time and from any process. */
  advance(
    run: RunKey,
    options?: { readonly signal?: AbortSignal; readonly onDelta?: (text: string) => void },
  ): Promise<RunResult>;
  /** Records a person's answer; a compare-and-set. `advance` acts on it. */
  decide(request: DecideRequest): Promise<DecideOutcome>;
  /** Records what a person found out about a call whose outcome nobody knows. Throws BELAY_DECISION_INVALID. */
  reconcile(request: ReconcileRequest): Promise<ReconcileOutcome>;
  /** Asks the tool's own `lookup` what became of such a call; records nothing. */
  lookUp(run: RunKey, callId: string, options?: { readonly signal?: AbortSignal }): Promise<LookupOutcome>;
  cancel(run: RunKey, by: Principal, note?: string): Promise<"recorded" | "already_ended" | "unknown_run">;
  state(run: RunKey): Promise<RunState | undefined>;
  entries(run: RunKey): Promise<readonly Entry[]>;
  /** Advances every unfinished run once; returns how many were looked at. A run that throws is an alarm, not an end. */
  recover(options?: { readonly signal?: AbortSignal }): Promise<number>;
  /** Serves wake-ups until closed; from the abort of `signal` on it begins nothing more. */
  work(options?: { readonly signal?: AbortSignal }): Promise<{ close(): Promise<void> }>;
}
