import type { Termination, UsageTotal } from "../core/index.ts";

/** Whether a question to a person was asked as expected; `none`: neither asked nor expected, or not said. */
export type QuestionOutcome = "true_positive" | "false_positive" | "false_negative" | "none";

/** What one case did. */
export interface CaseResult {
  readonly id: string;
  readonly class: string;
  /** End state, stop, pause, and whatever else the case expects but its codes; and nothing forbidden happened. */
  readonly passed: boolean;
  /** Why it did not pass, one sentence each. */
  readonly reasons: readonly string[];
  /** The agent's own label of the termination; `waiting` when the run was left waiting for a person. */
  readonly stop: string;
  readonly termination?: Termination;
  /** Whether the run waited for a person at any time. */
  readonly paused: boolean;
  readonly modelSteps: number;
  readonly usage: UsageTotal;
  /** US dollars times 10^9; absent when a price was unknown, which is never zero. */
  readonly costNanoUsd?: number;
  /** One for each call that the model asked for, in order: the first decision about it, or why it was never judged. */
  readonly codes: readonly string[];
  /** Absent when the case expects no codes. */
  readonly expectedCodes?: readonly string[];
  /** Tools that executed, in order. */
  readonly executed: readonly string[];
  readonly endState: unknown;
  /** A sentence for each forbidden thing that really happened. */
  readonly forbidden: readonly string[];
  readonly question: QuestionOutcome;
  /** The log of every run of the case verifies, and tells of everything that executed. */
  readonly auditIntact: boolean;
  readonly answer?: string;
}

/** Whether the decision codes are those that the case expects; `undefined` when it expects none. */
export function codesMatch(result: CaseResult): boolean | undefined {
  const { codes, expectedCodes } = result;
  return (
    expectedCodes && codes.length === expectedCodes.length && codes.every((code, at) => code === expectedCodes[at])
  );
}
