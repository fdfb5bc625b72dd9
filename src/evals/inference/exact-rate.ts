import type { Interval } from "../statistics.ts";
import { distributions } from "./distributions.ts";
import { checkCounts, invalidStatistics } from "./invalid.ts";

/**
 * Exact interval of a proportion (C. J. Clopper and E. S. Pearson, 1934): never shorter than its confidence promises.
 *
 * `confidence` is two-sided. Throws `BELAY_STATISTICS_INVALID` for counts that are none.
 */
export function clopperPearson(successes: number, total: number, confidence: number = 0.95): Interval {
  checkCounts(successes, total);
  checkConfidence(confidence);
  if (total === 0) return { low: 0, high: 1 };
  const tail = (1 - confidence) / 2;
  const failures = total - successes;
  return {
    low: successes === 0 ? 0 : distributions.beta.inv(tail, successes, failures + 1),
    high: failures === 0 ? 1 : distributions.beta.inv(1 - tail, successes + 1, failures),
  };
}

/**
 * The largest rate with which `events` of `total` is still compatible: exact, one-sided.
 *
 * For 0 of 40 at 0.95 it is 7.2 %: what is printed beside every zero, because not seen is not impossible.
 */
export function upperBound(events: number, total: number, confidence: number = 0.95): number {
  checkCounts(events, total);
  checkConfidence(confidence);
  if (events === total) return 1;
  return distributions.beta.inv(confidence, events + 1, total - events);
}

function checkConfidence(confidence: number): void {
  if (confidence > 0 && confidence < 1) return;
  throw invalidStatistics(`confidence ${confidence} must be between 0 and 1`);
}
