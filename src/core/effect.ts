import type { Termination } from "./termination.ts";

/**
 * What a state implies must be done next. The core asks; the engine does it and reports back with events.
 *
 * The list is derived from the state alone, so a restarted process finds the same effects as the one that died.
 */
export type Effect =
  | { readonly type: "call_model" }
  /** The model call that failed is made again, not before this time. */
  | { readonly type: "await_retry"; readonly notBefore: number }
  | { readonly type: "decide_call"; readonly callId: string; readonly recheck: boolean }
  | { readonly type: "request_approval"; readonly callId: string }
  | {
      readonly type: "await_approval";
      readonly callId: string;
      readonly approvalId: string;
      readonly expiresAt: number;
    }
  | { readonly type: "start_call"; readonly callId: string }
  /** Started and not settled: running here, or lost with the process that started it. */
  | { readonly type: "finish_call"; readonly callId: string }
  | { readonly type: "settle_budget"; readonly reservationId: string; readonly budget: string; readonly amount: number }
  | { readonly type: "release_budget"; readonly reservationId: string; readonly budget: string }
  | { readonly type: "end_run"; readonly termination: Termination }
  | { readonly type: "start_next_run"; readonly nextRunId: string };
