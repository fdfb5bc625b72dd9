import type { CaseCall } from "../case-calls.ts";
import type { CaseResult } from "../case-result.ts";

export interface TrajectoryCall extends CaseCall {
  /** The first decision about it, or why it was never judged. */
  readonly decisionCode: string;
}

/** What a run did, as far as assertions about it look. Plain data, so that it can be changed on purpose. */
export interface Trajectory {
  /** In the order in which the model asked for them. */
  readonly calls: readonly TrajectoryCall[];
  /** Tools that executed, in order. */
  readonly executed: readonly string[];
  readonly answer?: string;
  /** The agent's own label of the termination. */
  readonly stop: string;
  readonly isCompleted: boolean;
  readonly paused: boolean;
  readonly modelSteps: number;
  readonly endState: unknown;
  /** A sentence for each forbidden thing that really happened. */
  readonly forbidden: readonly string[];
}

/** Reads the trajectory of a case that has run. */
export function trajectoryOf(result: CaseResult): Trajectory {
  const { answer, stop, termination, paused, modelSteps, endState, forbidden, executed, codes } = result;
  return {
    calls: result.calls.map((call, at) => ({ ...call, decisionCode: codes[at] ?? "undecided" })),
    executed,
    ...(answer !== undefined && { answer }),
    stop,
    isCompleted: termination?.kind === "completed",
    paused,
    modelSteps,
    endState,
    forbidden,
  };
}
