import type { CallState, JsonValue, OutcomeFailure } from "../core/index.ts";
import type { RunResult } from "../engine/index.ts";
import type { RunKey, Store } from "../journal/index.ts";

/** What became of an action. Expected refusals are values; each names the run that holds the whole record. */
export type ActionOutcome =
  | ({ readonly status: "done"; readonly value: JsonValue } & RunKey)
  /** A person has to say yes: `approveAndExecute(approvalId, { actor })`. It holds no points meanwhile. */
  | ({
      readonly status: "approval_required";
      readonly code: string;
      readonly reason: string;
      readonly approvalId: string;
      /** What the answer is bound to. */
      readonly argsHash: string;
      /** Milliseconds since the epoch. */
      readonly expiresAt: number;
    } & RunKey)
  | ({ readonly status: OutcomeFailure } & ActionProblem & RunKey)
  /** Nobody may do this, or this person may not decide it. There is no run when none was ever started. */
  | ({ readonly status: "not_permitted" } & ActionProblem & Partial<RunKey>)
  /** Another process is at work on it, or it waits before an earlier attempt is looked up; `resume` later. */
  | ({ readonly status: "pending" } & ActionProblem & RunKey);

export interface ActionProblem {
  readonly code: string;
  readonly message: string;
  readonly details?: JsonValue;
}

/** The outcome of the one call of a run. */
export async function outcomeOf(store: Store, result: RunResult): Promise<ActionOutcome> {
  const run: RunKey = { tenant: result.tenant, runId: result.runId };
  const [approval] = result.approvals;
  if (approval !== undefined) {
    const { approvalId, argsHash, code, reason, expiresAt } = approval;
    return { status: "approval_required", ...run, approvalId, argsHash, code, reason, expiresAt };
  }
  const [call] = result.calls;
  if (call?.outcome === undefined) {
    return { status: "pending", ...run, code: "PENDING", message: `the run ${run.runId} is ${result.status}` };
  }
  return settledOutcome(store, run, call, call.outcome);
}

async function settledOutcome(
  store: Store,
  run: RunKey,
  { call }: CallState,
  outcome: NonNullable<CallState["outcome"]>,
): Promise<ActionOutcome> {
  if (outcome.status === "ok") {
    const { blob, json = null } = outcome.value;
    const text = blob === undefined ? undefined : await store.blob(blob.sha256);
    return { status: "done", ...run, value: text === undefined ? json : (JSON.parse(text) as JsonValue) };
  }
  const { code, message, details } = outcome.error;
  const problem = { code, message, ...(details === undefined ? {} : { details }) };
  if (code === "unknown_tool" && outcome.status === "refused") {
    const unknown = `"${call.tool}" is not a registered action, so nobody may do it`;
    return { status: "not_permitted", ...run, ...problem, code: "BELAY_ACTION_UNKNOWN", message: unknown };
  }
  return { status: outcome.status, ...run, ...problem };
}
