import { type Termination, terminationCode } from "belay-harness";

/** Why a run of the stockroom ended, in the words of its source. */
export const TERMINATION_REASONS = [
  "COMPLETED",
  "MAX_STEPS",
  "REPEATED_CALL",
  "TOKEN_BUDGET",
  "TIMEOUT",
  "INVALID_TOOL_CALLS",
  "MODEL_ERROR",
] as const;

export type TerminationReason = (typeof TERMINATION_REASONS)[number];

const BY_CODE: Readonly<Record<string, TerminationReason>> = {
  completed: "COMPLETED",
  max_steps: "MAX_STEPS",
  repeated_call: "REPEATED_CALL",
  token_budget: "TOKEN_BUDGET",
  wall_clock: "TIMEOUT",
  invalid_calls: "INVALID_TOOL_CALLS",
  unreadable_replies: "MODEL_ERROR",
  model_error: "MODEL_ERROR",
};

/** Names the end of a run; a run guard that halts names it itself, and what the source does not know keeps its code. */
export function label(termination: Termination): string {
  if (termination.kind === "halted") {
    return termination.code;
  }
  const code = terminationCode(termination);
  return (Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined) ?? code;
}
