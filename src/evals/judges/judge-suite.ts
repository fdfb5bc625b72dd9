import type { SuiteResult } from "../run-suite.ts";
import type { EvalSuite } from "../suite.ts";
import type { Grade, Judge } from "./judge.ts";

/** What a judge said of the answers of a suite. */
export interface JudgedSuite {
  readonly judge: string;
  readonly suite: string;
  readonly grades: readonly (Grade & { readonly id: string })[];
}

/**
 * Has a judge grade each answer of a suite whose case names facts; a case that gave no answer fails.
 *
 * Judged answers are reported and never gated: rates that a judge gives are worth what its calibration is. Rejects when
 * the judge does.
 */
export async function judgeSuite(
  judge: Judge,
  suite: EvalSuite,
  results: readonly SuiteResult[],
  { signal }: { readonly signal: AbortSignal },
): Promise<JudgedSuite> {
  const cases = new Map(suite.cases.map((evalCase) => [evalCase.id, evalCase]));
  const grades: (Grade & { readonly id: string })[] = [];
  for (const { id, answer } of results.filter((result) => result.suite === suite.name).flatMap((one) => one.cases)) {
    const { message: question = "", expectedFacts: facts = [], forbiddenFacts = [] } = cases.get(id) ?? {};
    if (facts.length + forbiddenFacts.length > 0) {
      const grade: Grade =
        answer === undefined
          ? { verdict: "fail", reason: "there is no answer" }
          : await judge.grade({ question, answer, facts, forbiddenFacts }, { signal });
      grades.push({ id, ...grade });
    }
  }
  return { judge: judge.id, suite: suite.name, grades };
}

/** Share of the judged answers that pass; `null` without any. What the judge did not say is no pass. */
export function judgedShare({ grades }: JudgedSuite): number | null {
  return grades.length === 0 ? null : grades.filter(({ verdict }) => verdict === "pass").length / grades.length;
}
