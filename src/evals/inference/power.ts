import { distributions } from "./distributions.ts";
import { invalidStatistics } from "./invalid.ts";

/**
 * The smallest difference of two rates that a comparison of `cases` against `cases` finds with the given power.
 *
 * Normal approximation, two-sided: (z(1−α/2) + z(power))·√(2·p·(1−p)/n). Smaller differences may be there and are not
 * seen. Throws `BELAY_STATISTICS_INVALID` without cases.
 */
export function minimumDetectableEffect(
  cases: number,
  rate: number,
  options: { readonly alpha?: number; readonly power?: number } = {},
): number {
  const { alpha = 0.05, power = 0.8 } = options;
  if (!(Number.isSafeInteger(cases) && cases > 0) || !(rate >= 0 && rate <= 1)) {
    throw invalidStatistics(`no effect can be computed for a rate of ${rate} over ${cases} cases`);
  }
  const z = distributions.normal.inv(1 - alpha / 2, 0, 1) + distributions.normal.inv(power, 0, 1);
  // At 0 or 1 the variance is 0 although the true rate is not known to be; half a case keeps it honest.
  const share = Math.min(1 - 0.5 / cases, Math.max(0.5 / cases, rate));
  return Math.min(1, z * Math.sqrt((2 * share * (1 - share)) / cases));
}
