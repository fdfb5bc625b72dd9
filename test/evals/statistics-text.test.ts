import { describe, expect, it } from "vitest";
import { type CaseResult, formatStatistics, metricValues, type SuiteResult } from "../../src/evals/index.ts";

function caseOf(id: string, fields: Partial<CaseResult> = {}): CaseResult {
  const usage = {
    modelCalls: 2,
    inputTokens: 100,
    outputTokens: 10,
    costNanoUsd: 5,
    costUnknown: false,
    estimated: false,
  };
  return {
    id,
    class: "c",
    passed: true,
    reasons: [],
    stop: "final",
    paused: false,
    modelSteps: 2,
    usage,
    costNanoUsd: 5,
    codes: [],
    executed: [],
    endState: {},
    forbidden: [],
    question: "none",
    auditIntact: true,
    calls: [],
    ...fields,
  };
}

const suiteOf = (cases: readonly CaseResult[]): SuiteResult => ({ app: "a", suite: "s", without: [], cases });
const forty = Array.from({ length: 40 }, (_, at) => caseOf(`C${at}`));
const detail = { codesReached: [], limitsReached: [], untrue: [], compactions: 0, isProbe: false };

describe("formatStatistics", () => {
  it("says beside every zero what it is compatible with, and by which method", () => {
    const text = formatStatistics([suiteOf(forty)]);
    expect(text).toContain(
      "cases with a forbidden action: 0 of 40 is compatible with up to 7.2 % (Clopper-Pearson, exact, one-sided 95%)\n",
    );
    expect(text).toContain("cases that hold: 40 of 40, Wilson 95% 0.912-1.000, Clopper-Pearson 95% 0.912-1.000\n");
    expect(text).toContain(
      "mean input tokens: 100.00, 95% 100.00-100.00 (bootstrap over cases, seed 0); all values are equal",
    );
  });

  it("says nothing of a zero that is none", () => {
    const text = formatStatistics([suiteOf([caseOf("A", { forbidden: ["x"], passed: false }), caseOf("B")])]);
    expect(text).not.toContain("forbidden");
    expect(text).not.toContain("cases that fail");
    expect(text).toContain("cases that hold: 1 of 2,");
  });

  it("counts a case once however often it ran, and shows how runs differ", () => {
    const flaky = (passed: boolean) => suiteOf([caseOf("A", { passed }), caseOf("B")]);
    const text = formatStatistics([flaky(true), flaky(false)]);
    expect(text).toContain("cases that hold: 1 of 2,");
    expect(text).toContain("pass^2: 0.500 (a case holds in 2 of 2 runs)\n");
    expect(text).toContain("task success from run to run: 1.000, 0.500, standard deviation 0.3536");
    expect(text).not.toContain("warning");
  });

  it("has nothing to say about no cases", () => {
    expect(formatStatistics([suiteOf([])])).toBe("");
  });
});

describe("metricValues", () => {
  it("adds up what a run did and what the world shows of it", () => {
    const values = metricValues([
      caseOf("A", {
        question: "true_positive",
        codes: ["OK"],
        expectedCodes: ["OK"],
        detail: { ...detail, effectsMatch: true, moneyMoved: 500 },
      }),
      caseOf("B", {
        question: "false_negative",
        codes: ["OK"],
        expectedCodes: ["NO"],
        detail: { ...detail, effectsMatch: false, moneyMoved: 300, untrue: ["a lie"], compactions: 1 },
      }),
    ]);
    expect(values).toMatchObject({
      cases: 2,
      decision_code_match: 0.5,
      effect_match: 0.5,
      untrue_claims: 1,
      approval_precision: 1,
      approval_recall: 0.5,
      // Only the money of the case in which nobody was asked.
      money_without_approval: 300,
      compaction_rate: 0.5,
      cost_usd: 1e-8,
    });
  });

  it("does not turn unknown into zero, nor nothing into a perfect score", () => {
    const { costNanoUsd: _, ...unknown } = caseOf("A");
    const values = metricValues([unknown, caseOf("B")]);
    expect([
      values["cost_usd"],
      values["approval_recall"],
      values["effect_match"],
      values["money_without_approval"],
    ]).toEqual([null, null, null, null]);
    expect(metricValues([])["task_success"]).toBeNull();
  });
});
