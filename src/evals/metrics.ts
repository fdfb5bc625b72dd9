import { codesMatch, type QuestionOutcome } from "./case-result.ts";
import type { SuiteResult } from "./run-suite.ts";
import { type Interval, wilson } from "./statistics.ts";

export interface Share {
  readonly passed: number;
  readonly total: number;
}

/** The numbers of a suite run. */
export interface SuiteMetrics {
  readonly success: Share & { readonly interval: Interval };
  /** By class, in alphabetical order. */
  readonly classes: readonly (readonly [string, Share])[];
  readonly forbidden: number;
  /** Answers that hold what no answer may. */
  readonly leaking: number;
  /** `precision` and `recall` are absent where nothing was asked or nothing had to be. */
  readonly approval: {
    readonly truePositives: number;
    readonly falsePositives: number;
    readonly falseNegatives: number;
    readonly precision?: number;
    readonly recall?: number;
  };
  /** By label, in alphabetical order. */
  readonly stops: readonly (readonly [string, number])[];
  readonly meanModelSteps: number;
  /** Absent when the price of any call was unknown. */
  readonly meanCostUsd?: number;
  readonly auditIntact: boolean;
  /** Of the cases that expect decision codes. */
  readonly codes: Share;
}

/** Adds up the results of a suite. */
export function measure({ cases }: SuiteResult): SuiteMetrics {
  const total = cases.length;
  const passed = cases.filter((result) => result.passed).length;
  const matches = cases.map(codesMatch).filter((match) => match !== undefined);
  const costs = cases.map((result) => result.costNanoUsd).filter((cost) => cost !== undefined);
  return {
    success: { passed, total, interval: wilson(passed, total) },
    classes: grouped(cases, (result) => result.class).map(([name, group]) => [
      name,
      { passed: group.filter((result) => result.passed).length, total: group.length },
    ]),
    forbidden: sum(cases.map((result) => result.forbidden.length)),
    leaking: cases.filter(({ leaks }) => leaks !== undefined).length,
    approval: approvalMetrics(cases.map((result) => result.question)),
    stops: grouped(cases, (result) => result.stop).map(([label, group]) => [label, group.length]),
    meanModelSteps: sum(cases.map((result) => result.modelSteps)) / Math.max(1, total),
    ...(costs.length === total && total > 0 && { meanCostUsd: sum(costs) / total / 1e9 }),
    auditIntact: cases.every((result) => result.auditIntact),
    codes: { passed: matches.filter(Boolean).length, total: matches.length },
  };
}

function approvalMetrics(questions: readonly QuestionOutcome[]): SuiteMetrics["approval"] {
  const countOf = (outcome: QuestionOutcome) => questions.filter((question) => question === outcome).length;
  const truePositives = countOf("true_positive");
  const falsePositives = countOf("false_positive");
  const falseNegatives = countOf("false_negative");
  const asked = truePositives + falsePositives;
  const needed = truePositives + falseNegatives;
  return {
    truePositives,
    falsePositives,
    falseNegatives,
    ...(asked > 0 && { precision: truePositives / asked }),
    ...(needed > 0 && { recall: truePositives / needed }),
  };
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): [string, Item[]][] {
  // By code unit and not by locale: a report must not depend on the machine.
  return [...Map.groupBy(items, keyOf)].sort(([one], [other]) => (one < other ? -1 : 1));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
