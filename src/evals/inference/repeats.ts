import { checkCounts, checkFinite, invalidStatistics } from "./invalid.ts";
import { meanOf, sampleDeviation } from "./moments.ts";

/** How much a suite's value moves from one repeat to the next. */
export interface RunToRun {
  readonly values: readonly number[];
  readonly mean: number;
  /** Sample standard deviation, n − 1. */
  readonly deviation: number;
}

/** Spread of a suite's value over its repeats. Throws `BELAY_STATISTICS_INVALID` for none and for non-finite values. */
export function runToRun(values: readonly number[]): RunToRun {
  if (values.length === 0) throw invalidStatistics("there are no repeats to compare");
  checkFinite(values, "the repeats");
  return { values, mean: meanOf(values), deviation: sampleDeviation(values) };
}

/**
 * The drop below a baseline that noise alone rarely makes: 2·√2·deviation, rounded up to two decimals.
 *
 * √2 because baseline and new run are both noisy.
 */
export function requiredMaxDrop(deviation: number): number {
  checkFinite([deviation], "the deviation");
  // What is left after 10 decimals is the binary fraction's noise, which must not add a whole point.
  const points = Number((2 * Math.SQRT2 * deviation * 100).toFixed(10));
  return Math.ceil(points) / 100;
}

/** Whether a floor is far enough below the mean that noise does not break it: mean − 2·deviation ≥ floor. */
export function floorIsSafe(mean: number, deviation: number, floor: number): boolean {
  checkFinite([mean, deviation, floor], "the floor");
  return mean - 2 * deviation >= floor - 1e-12;
}

/**
 * Chance that `k` independent repeats all pass, estimated without bias from `passes` of `repeats` (pass^k):
 * C(passes, k) / C(repeats, k).
 */
export function passHatK(passes: number, repeats: number, k: number): number {
  checkCounts(passes, repeats);
  if (!Number.isSafeInteger(k) || k < 1 || k > repeats) {
    throw invalidStatistics(`pass^${k} cannot be estimated from ${repeats} repeats`);
  }
  let chance = 1;
  for (let drawn = 0; drawn < k; drawn += 1) chance *= Math.max(0, passes - drawn) / (repeats - drawn);
  return chance;
}
