import type { CallState, OutcomeFailure } from "../core/index.ts";

/** Decision code of a run guard; it is not a decision of the policy. */
export const BLOCKED_BY_GUARD = "blocked_by_guard";

/**
 * What became of a call, in one word.
 *
 * `executed`: the tool ran or may have run, whatever came of it. `blocked`: a run guard. `invalid`: refused before any
 * rule, for its arguments or its tool. The others are those of the outcome.
 */
export type Disposition =
  | "executed"
  | "blocked"
  | "invalid"
  | Exclude<OutcomeFailure, "failed" | "unknown">
  | "unsettled";

export function dispositionOf({ call, attempt, outcome }: CallState): Disposition {
  if (call.refusal !== undefined) {
    return "invalid";
  }
  switch (outcome?.status) {
    case undefined:
      return attempt > 0 ? "executed" : "unsettled";
    case "ok":
    case "failed":
    case "unknown":
      return "executed";
    default:
      return outcome?.error.code === BLOCKED_BY_GUARD ? "blocked" : (outcome?.status ?? "unsettled");
  }
}
