import { distributions } from "./distributions.ts";
import { checkCounts, invalidStatistics } from "./invalid.ts";

/** Cases whose outcome differs between two runs of the same suite. */
export interface Flips {
  /** Passed before and fails now. */
  readonly lost: readonly string[];
  /** Failed before and passes now. */
  readonly won: readonly string[];
}

/**
 * Pairs each case with its outcome before.
 *
 * Throws `BELAY_STATISTICS_INVALID` when the two runs are not about the same cases: a delta over different cases is no
 * comparison.
 */
export function pairedFlips(before: ReadonlyMap<string, boolean>, now: ReadonlyMap<string, boolean>): Flips {
  const missing = [...before.keys()].filter((id) => !now.has(id));
  const added = [...now.keys()].filter((id) => !before.has(id));
  if (missing.length + added.length > 0) {
    const names = (ids: readonly string[]): string => (ids.length === 0 ? "none" : ids.slice(0, 10).join(", "));
    throw invalidStatistics(`the runs have other cases: missing now ${names(missing)}, new ${names(added)}`);
  }
  const lost: string[] = [];
  const won: string[] = [];
  for (const [id, passed] of now) {
    if (before.get(id) === passed) continue;
    (passed ? won : lost).push(id);
  }
  return { lost, won };
}

/**
 * Exact two-sided McNemar test (Q. McNemar, 1947): the chance of flips at least this lopsided when both runs are
 * equally good. 1 without flips.
 */
export function mcnemarExact(lost: number, won: number): number {
  checkCounts(lost, lost + won);
  const total = lost + won;
  if (total === 0) return 1;
  const tail = distributions.binomial.cdf(Math.min(lost, won), total, 0.5);
  return Math.min(1, 2 * tail);
}
