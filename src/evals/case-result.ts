import type { Termination, UsageTotal } from "../core/index.ts";
import type { AgentOutcome } from "./agent-outcome.ts";
import type { CaseCall } from "./case-calls.ts";

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
  /** A sentence for each text that the answer must not hold and does; absent: it holds none. */
  readonly leaks?: readonly string[];
  readonly question: QuestionOutcome;
  /** The log of every run of the case verifies, and tells of everything that executed. */
  readonly auditIntact: boolean;
  readonly answer?: string;
  readonly calls: readonly CaseCall[];
  /** Present for a case that names its expected tools. */
  readonly agent?: AgentOutcome;
  /** What only the document of results and coverage speak of. */
  readonly detail?: CaseDetail;
}

/** Where a run stood to one of its limits: one short of it, on it, or stopped by it. */
export interface LimitReach {
  /** Id of the control, without `limit:`. */
  readonly limit: string;
  readonly level: "limit-1" | "limit" | "limit+1";
}

/** What a case did beside what its report says. */
export interface CaseDetail {
  /** Every decision and failure code of the run, as the agent names it, those of later looks at the world included. */
  readonly codesReached: readonly string[];
  readonly limitsReached: readonly LimitReach[];
  /** A sentence for each thing that the answer claims and that the world does not show; absent where nobody sees it. */
  readonly untrue?: readonly string[];
  /** Whether the effects that the calls claim are those that the world shows; absent where the suite cannot tell. */
  readonly effectsMatch?: boolean;
  /** In the world's smallest unit; absent where the suite cannot tell. */
  readonly moneyMoved?: number;
  readonly compactions: number;
  /** The case holds with a rule that the suite adds to the agent. */
  readonly isProbe: boolean;
}

/** Whether the decision codes are those that the case expects; `undefined` when it expects none. */
export function codesMatch(result: CaseResult): boolean | undefined {
  const { codes, expectedCodes } = result;
  return (
    expectedCodes && codes.length === expectedCodes.length && codes.every((code, at) => code === expectedCodes[at])
  );
}
