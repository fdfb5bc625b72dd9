import type { CaseResult } from "./case-result.ts";
import { caseHolds } from "./document.ts";
import {
  caseBootstrap,
  clopperPearson,
  minimumDetectableEffect,
  passHatK,
  requiredMaxDrop,
  runToRun,
  upperBound,
} from "./inference/index.ts";
import { metricValues } from "./metric-values.ts";
import type { SuiteResult } from "./run-suite.ts";
import { wilson } from "./statistics.ts";

/**
 * Writes what the numbers of one suite are worth. `repeats` are runs of the same suite, at least one.
 *
 * Rates have the Wilson and the exact interval, means that of a bootstrap over cases, and every zero the largest rate
 * with which it is compatible.
 */
export function formatStatistics(repeats: readonly SuiteResult[]): string {
  const results = repeats.flatMap(({ cases }) => cases);
  const byCase = [...Map.groupBy(results, ({ id }) => id).values()];
  if (byCase.length === 0) {
    return "";
  }
  return [
    ...successLines(byCase),
    ...zeroLines(byCase),
    ...meanLines(byCase),
    ...(repeats.length > 1 ? repeatLines(repeats, byCase) : []),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

type Cases = readonly (readonly CaseResult[])[];

/** A case counts once however often it ran: repeats of one case are no further cases. */
function successLines(byCase: Cases): readonly string[] {
  const total = byCase.length;
  const held = byCase.filter((outcomes) => outcomes.every(caseHolds)).length;
  const [score, exact] = [wilson(held, total), clopperPearson(held, total)];
  return [
    `cases that hold: ${held} of ${total}, Wilson 95% ${interval(score)}, Clopper-Pearson 95% ${interval(exact)}`,
    `smallest difference that another run of ${total} cases shows: ` +
      `${(minimumDetectableEffect(total, held / total) * 100).toFixed(1)} points (two-sided 5%, power 80%)`,
  ];
}

function zeroLines(byCase: Cases): readonly string[] {
  const total = byCase.length;
  const rates: readonly (readonly [string, (result: CaseResult) => boolean])[] = [
    ["cases with a forbidden action", ({ forbidden }) => forbidden.length > 0],
    ["cases that fail", (result) => !caseHolds(result)],
    // A case of which nobody sees the world is no zero.
    ["cases with a leak in the answer", ({ leaks }) => leaks !== undefined],
    ["cases with an untrue claim", ({ detail }) => detail !== undefined && detail.untrue?.length !== 0],
    ["cases with a question that was not asked", ({ question }) => question === "false_negative"],
  ];
  return rates
    .filter(([, isEvent]) => byCase.every((outcomes) => !outcomes.some(isEvent)))
    .map(
      ([name]) =>
        `${name}: 0 of ${total} is compatible with up to ${(upperBound(0, total) * 100).toFixed(1)} % ` +
        "(Clopper-Pearson, exact, one-sided 95%)",
    );
}

function meanLines(byCase: Cases): readonly string[] {
  const means: readonly (readonly [string, (result: CaseResult) => number])[] = [
    ["mean input tokens", ({ usage }) => usage.inputTokens],
    ["mean output tokens", ({ usage }) => usage.outputTokens],
    ["mean model calls", ({ modelSteps }) => modelSteps],
  ];
  return means.map(([name, read]) => {
    const boot = caseBootstrap(byCase.map((outcomes) => outcomes.map(read)));
    const warning = boot.isDegenerate ? "; all values are equal, so the interval says nothing" : "";
    return `${name}: ${boot.mean.toFixed(2)}, 95% ${interval(boot, 2)} (bootstrap over cases, seed 0)${warning}`;
  });
}

function repeatLines(repeats: readonly SuiteResult[], byCase: Cases): readonly string[] {
  const count = repeats.length;
  const estimates = byCase.map((outcomes) => passHatK(outcomes.filter(caseHolds).length, outcomes.length, count));
  const passAll = estimates.reduce((sum, estimate) => sum + estimate, 0) / byCase.length;
  const spread = runToRun(repeats.map(({ cases }) => metricValues(cases)["task_success"] ?? 0));
  const isEqual = spread.values.every((value) => value === spread.values[0]);
  return [
    `pass^${count}: ${passAll.toFixed(3)} (a case holds in ${count} of ${count} runs)`,
    `task success from run to run: ${spread.values.map((value) => value.toFixed(3)).join(", ")}, ` +
      `standard deviation ${spread.deviation.toFixed(4)}` +
      `, drop that noise alone rarely makes ${requiredMaxDrop(spread.deviation).toFixed(2)}`,
    ...(isEqual ? [`warning: all ${count} runs are equal, so their spread says nothing about other runs`] : []),
  ];
}

function interval({ low, high }: { readonly low: number; readonly high: number }, digits = 3): string {
  return `${low.toFixed(digits)}-${high.toFixed(digits)}`;
}
