import type { MetricValues } from "../app-evals.ts";
import type { DocumentCase, EvalDocument } from "../document.ts";
import { upperBound } from "../inference/index.ts";
import { type Interval, wilson } from "../statistics.ts";

/** Cases that held each time that they ran, of all. */
export interface HeldShare {
  readonly name: string;
  readonly held: number;
  readonly total: number;
  /** Wilson, 95 %. */
  readonly interval: Interval;
}

export interface FailedCase {
  readonly suite: string;
  readonly id: string;
  readonly class: string;
  readonly heldTimes: number;
  readonly times: number;
  readonly reasons: readonly string[];
}

export interface SuiteSummary extends HeldShare {
  readonly classes: readonly HeldShare[];
  readonly metrics: MetricValues;
  readonly failed: readonly FailedCase[];
  /** What zero failures are compatible with: exact, one-sided, 95 %; absent when a case failed. */
  readonly failureRateMax?: number;
}

/** What every form of the report says of each suite. */
export function summariesOf({ cases, metrics }: EvalDocument): readonly SuiteSummary[] {
  return Object.entries(metrics).map(([suite, values]) => {
    const own = cases.filter((each) => each.suite === suite);
    const share = shareOf(suite, own);
    return {
      ...share,
      classes: [...Map.groupBy(own, (each) => each.class)].map(([name, group]) => shareOf(name, group)),
      metrics: values,
      failed: own.filter((each) => !holds(each)).map(failedCase),
      ...(share.held === share.total && share.total > 0 && { failureRateMax: upperBound(0, share.total) }),
    };
  });
}

function shareOf(name: string, cases: readonly DocumentCase[]): HeldShare {
  const held = cases.filter(holds).length;
  return { name, held, total: cases.length, interval: wilson(held, cases.length) };
}

/** A case that never ran did not hold. */
function holds({ repeats }: DocumentCase): boolean {
  return repeats.length > 0 && repeats.every((repeat) => repeat.holds);
}

function failedCase({ suite, id, class: name, repeats }: DocumentCase): FailedCase {
  const reasons = new Set(repeats.filter((repeat) => !repeat.holds).flatMap((repeat) => reasonsOf(repeat.reasons)));
  return {
    suite,
    id,
    class: name,
    heldTimes: repeats.filter((repeat) => repeat.holds).length,
    times: repeats.length,
    reasons: repeats.length === 0 ? ["it did not run"] : [...reasons],
  };
}

function reasonsOf(reasons: readonly string[]): readonly string[] {
  return reasons.length > 0 ? reasons : ["its decision codes or its audit log are not as expected"];
}

/** A metric as every report writes it; `null` is unknown, which is never zero. */
export function metricText(value: number | null): string {
  if (value === null) {
    return "unknown";
  }
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 0.01 ? 6 : 4);
}

export function intervalText({ low, high }: Interval): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
