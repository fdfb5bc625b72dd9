import type { GateThresholds } from "./app-evals.ts";
import type { EvalDocument } from "./document.ts";
import { boundProblems, costProblems, flipsOf, invariantProblems, regressionProblems } from "./gate-bounds.ts";
import { comparabilityProblems, evidenceProblems } from "./gate-evidence.ts";
import { redTeamEvidence } from "./gate-red-team.ts";
import { mcnemarExact, minimumDetectableEffect } from "./inference/index.ts";
import { wilson } from "./statistics.ts";
import type { EvalSuite } from "./suite.ts";

/** What the gate looks at, in this order. */
export const GATE_STAGES = ["evidence", "comparability", "invariants", "category", "regression", "cost"] as const;

export type GateStage = (typeof GATE_STAGES)[number];

export interface GateFailure {
  readonly stage: GateStage;
  readonly problem: string;
}

export interface DocumentVerdict {
  readonly passed: boolean;
  readonly failures: readonly GateFailure[];
  /** What a reader should know and what fails nothing. */
  readonly notes: readonly string[];
}

export interface GateDocumentOptions {
  readonly thresholds: GateThresholds;
  /** The suites of this checkout. */
  readonly suites: readonly EvalSuite[];
  /** `undefined`: there is none, which is a failure; a first baseline is written and not gated. */
  readonly baseline: EvalDocument | undefined;
  /** Ids of the app's red team, which the document must then tell of; absent where it is not asked for. */
  readonly redTeam?: readonly string[];
}

/**
 * Judges a document of results: evidence, comparability, invariants, per category, paired regression, cost.
 *
 * What was not shown by evidence is not compared, and what is not comparable has no delta: those stages are left out
 * when an earlier one says so. Live runs are gated on evidence and invariants alone; the rest is told as notes, with the
 * intervals of the rates.
 */
export function gateDocument(document: EvalDocument, options: GateDocumentOptions): DocumentVerdict {
  const { thresholds, suites, baseline, redTeam } = options;
  const evidence = [
    ...evidenceProblems(document, suites),
    ...(redTeam !== undefined && thresholds.invariants.redTeam ? redTeamEvidence(document, redTeam) : []),
  ];
  const isLive = document.subject.mode === "live";
  const comparability = isLive && baseline === undefined ? [] : comparabilityOf(document, baseline);
  const comparable = comparability.length === 0 ? baseline : undefined;
  const invariants = invariantProblems(document, thresholds);
  const category = boundProblems(document, thresholds);
  const regression = comparable === undefined ? [] : regressionProblems(document, comparable, thresholds);
  const cost = comparable === undefined ? [] : costProblems(document, comparable, thresholds);
  const failures = [
    ...failuresOf("evidence", evidence),
    ...(isLive ? [] : failuresOf("comparability", comparability)),
    ...failuresOf("invariants", invariants),
    ...(isLive ? [] : [...failuresOf("category", category), ...failuresOf("regression", regression)]),
    ...(isLive ? [] : failuresOf("cost", cost)),
  ];
  const notGated = isLive ? [...comparability, ...category, ...regression, ...cost] : [];
  const notes = [
    ...notGated.map((problem) => `not gated in live mode: ${problem}`),
    ...(isLive ? rateNotes(document) : []),
    ...(comparable === undefined ? [] : pairedNotes(document, comparable)),
  ];
  return { passed: failures.length === 0, failures, notes };
}

function comparabilityOf(document: EvalDocument, baseline: EvalDocument | undefined): readonly string[] {
  return baseline === undefined
    ? ["there is no baseline; write one with --write-baseline and commit it"]
    : comparabilityProblems(document.subject, baseline.subject);
}

/** What a live run shows by itself: rates with their intervals, and the smallest change that another run would show. */
function rateNotes({ cases, metrics }: EvalDocument): readonly string[] {
  return Object.keys(metrics).flatMap((suite) => {
    const own = cases.filter((each) => each.suite === suite);
    const held = own.filter(({ repeats }) => repeats.length > 0 && repeats.every(({ holds }) => holds)).length;
    if (own.length === 0) {
      return [];
    }
    const { low, high } = wilson(held, own.length);
    const effect = minimumDetectableEffect(own.length, held / own.length);
    return [
      `${suite}: ${held} of ${own.length} cases hold, Wilson 95% ${low.toFixed(3)}-${high.toFixed(3)}; ` +
        `a change of less than ${(effect * 100).toFixed(1)} points is not found (power 0.80)`,
    ];
  });
}

/** Cases that went over, whether chance alone explains it, and what the comparison could not have seen. */
function pairedNotes(document: EvalDocument, baseline: EvalDocument): readonly string[] {
  const { lost, won } = flipsOf(document, baseline);
  const cases = document.cases.length;
  const held = document.cases.filter(({ repeats }) => repeats.every(({ holds }) => holds)).length;
  if (cases === 0) {
    return [];
  }
  const effect = minimumDetectableEffect(cases, held / cases);
  return [
    `paired with the baseline: ${lost.length} lost, ${won.length} won ` +
      `(exact McNemar p = ${mcnemarExact(lost.length, won.length).toFixed(3)}); ` +
      `a change of less than ${(effect * 100).toFixed(1)} points is not found with ${cases} cases (power 0.80)`,
  ];
}

function failuresOf(stage: GateStage, problems: readonly string[]): readonly GateFailure[] {
  return problems.map((problem) => ({ stage, problem }));
}
