import { isDeepStrictEqual } from "node:util";
import { type CaseResult, codesMatch } from "../case-result.ts";
import { caseHolds } from "../document.ts";
import type { SuiteResult } from "../run-suite.ts";
import type { VacuityFinding } from "../vacuity/index.ts";

/** What a matcher of Vitest gives back. */
export interface MatcherOutcome {
  readonly pass: boolean;
  readonly message: () => string;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

export interface BelayMatchers {
  /** The case did all that it expects, decision codes included, and its audit log verifies. */
  toPassCase(received: CaseResult): MatcherOutcome;
  /** Every case of the suite did; a suite without a case does not pass. */
  toPassSuite(received: SuiteResult): MatcherOutcome;
  /** These tools executed, in this order, and no others. */
  toHaveExecuted(received: Pick<CaseResult, "executed">, tools: readonly string[]): MatcherOutcome;
  /** The run ended with this label of the agent. */
  toStopWith(received: Pick<CaseResult, "stop">, stop: string): MatcherOutcome;
  /** The assertions notice at least one spoiled trajectory; what `checkVacuity` found. */
  toBite(received: VacuityFinding): MatcherOutcome;
}

/**
 * Matchers for Vitest: `expect.extend(belayMatchers)`. They look at results and run nothing, so Vitest need not know
 * how a case is run.
 */
export const belayMatchers: BelayMatchers = {
  toPassCase: (received) => {
    const pass = caseHolds(received);
    return {
      pass,
      message: () => (pass ? `case ${received.id} passes` : `case ${received.id}: ${problemsOf(received)}`),
    };
  },
  toPassSuite: ({ suite, cases }) => {
    const failed = cases.filter((result) => !caseHolds(result));
    const pass = cases.length > 0 && failed.length === 0;
    const lines = failed.map((result) => `  ${result.id}: ${problemsOf(result)}`);
    return {
      pass,
      message: () =>
        pass
          ? `all ${cases.length} cases of ${suite} pass`
          : [`${failed.length} of ${cases.length} cases of ${suite} fail`, ...lines].join("\n"),
    };
  },
  toHaveExecuted: ({ executed }, tools) => ({
    pass: isDeepStrictEqual([...executed], [...tools]),
    message: () => `executed ${executed.join(", ") || "nothing"}, compared with ${tools.join(", ") || "nothing"}`,
    actual: executed,
    expected: tools,
  }),
  toStopWith: (received, stop) => ({
    pass: received.stop === stop,
    message: () => `it ended with ${received.stop}, compared with ${stop}`,
    actual: received.stop,
    expected: stop,
  }),
  toBite: ({ verdict, survivors }) => ({
    pass: verdict === "bites",
    message: () =>
      verdict === "failing"
        ? "the trajectory itself does not pass, so nothing was tried"
        : `the assertions are ${verdict}; not noticed: ${survivors.map(({ what }) => what).join("; ") || "nothing"}`,
  }),
};

function problemsOf(result: CaseResult): string {
  const { reasons, auditIntact, codes, expectedCodes } = result;
  return [
    ...reasons,
    ...(auditIntact ? [] : ["its audit log does not verify"]),
    ...(codesMatch(result) === false
      ? [`decision codes are ${codes.join(", ") || "none"}, expected ${expectedCodes?.join(", ") || "none"}`]
      : []),
  ].join("; ");
}
