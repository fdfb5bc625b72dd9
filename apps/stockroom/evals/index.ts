import { type AppEvals, FULL_THRESHOLDS } from "belay-harness/evals";
import type { Weakness } from "../weaknesses.ts";

/** The published thresholds, and what the golden cases and the guard cases reach between them. */
export function stockroomEvals(weaknesses: readonly Weakness[]): AppEvals {
  return {
    gate: FULL_THRESHOLDS,
    coverage: {
      codes: [
        ...["OK", "unknown_tool", "invalid_arguments", "invalid_request"],
        // What the harness itself says, and the two codes of the rule that the guard cases add.
        ...["too_many_calls", "state_tampered", "BUYER_MUST_AGREE", "ORDERED_ALREADY"],
        ...["approval_rejected", "approval_expired", "not_run"],
      ],
      terminations: [
        ...["completed", "cancelled", "model_error", "max_steps", "token_budget", "wall_clock", "repeated_call"],
        ...["invalid_calls", "unreadable_replies", "rejections"],
      ],
    },
    baseline: new URL("baseline.json", import.meta.url),
    weaknesses,
  };
}
