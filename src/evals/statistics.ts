import { BelayError } from "../errors.ts";

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/**
 * Score interval of a proportion (E. B. Wilson, 1927): it stays inside 0 to 1 and is honest about 40 of 40.
 *
 * `confidence` is two-sided, between 0 and 1. Without observations nothing is known: 0 to 1. Throws
 * `BELAY_STATISTICS_INVALID` for counts that are none.
 */
export function wilson(successes: number, total: number, confidence: number = 0.95): Interval {
  const areCounts = Number.isSafeInteger(successes) && Number.isSafeInteger(total);
  if (!areCounts || successes < 0 || successes > total || !(confidence > 0 && confidence < 1)) {
    throw new BelayError(
      "BELAY_STATISTICS_INVALID",
      `${successes} successes of ${total} at confidence ${confidence} have no interval. ` +
        "Pass whole numbers with 0 <= successes <= total, and a confidence between 0 and 1.",
    );
  }
  if (total === 0) {
    return { low: 0, high: 1 };
  }
  const z = normalQuantile(1 - (1 - confidence) / 2);
  const share = successes / total;
  const spread = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  const center = share + (z * z) / (2 * total);
  const scale = 1 + (z * z) / total;
  // Rounding must not put an end of the interval on the wrong side of the share itself.
  return {
    low: Math.max(0, Math.min(share, (center - spread) / scale)),
    high: Math.min(1, Math.max(share, (center + spread) / scale)),
  };
}

// Rational approximation of the inverse normal distribution by P. J. Acklam, relative error below 1.2e-9.
const CENTRAL_TOP = [
  -3.969683028665376e1, 2.209460984245205e2, -2.759285104469687e2, 1.38357751867269e2, -3.066479806614716e1,
  2.506628277459239,
];
const CENTRAL_BOTTOM = [
  -5.447609879822406e1, 1.615858368580409e2, -1.556989798598866e2, 6.680131188771972e1, -1.328068155288572e1, 1,
];
const TAIL_TOP = [
  -7.784894002430293e-3, -3.223964580411365e-1, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
];
const TAIL_BOTTOM = [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1];
const TAIL = 0.02425;

function normalQuantile(probability: number): number {
  if (probability > 1 - TAIL) {
    const q = Math.sqrt(-2 * Math.log(1 - probability));
    return -polynomial(TAIL_TOP, q) / polynomial(TAIL_BOTTOM, q);
  }
  const q = probability - 0.5;
  return (q * polynomial(CENTRAL_TOP, q * q)) / polynomial(CENTRAL_BOTTOM, q * q);
}

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduce((sum, coefficient) => sum * x + coefficient, 0);
}
