import type { Interval } from "../statistics.ts";
import { invalidStatistics } from "./invalid.ts";

export interface Kappa extends Interval {
  readonly kappa: number;
  /** Share of items on which both agree. */
  readonly agreement: number;
}

/**
 * Agreement of two raters beyond chance (J. Cohen, 1960) with its large-sample 95 % interval.
 *
 * Throws `BELAY_STATISTICS_INVALID` for lists of different length and for none.
 */
export function cohenKappa(one: readonly string[], other: readonly string[]): Kappa {
  if (one.length !== other.length || one.length === 0) {
    throw invalidStatistics(`kappa compares two equally long lists, not ${one.length} and ${other.length} labels`);
  }
  const total = one.length;
  const agreement = one.filter((label, index) => label === other[index]).length / total;
  const labels = new Set([...one, ...other]);
  let chance = 0;
  for (const label of labels) chance += share(one, label) * share(other, label);
  // Both always say the same one thing: they agree, and chance explains all of it.
  if (chance === 1) return { kappa: 1, agreement, low: 1, high: 1 };
  const kappa = (agreement - chance) / (1 - chance);
  const error = Math.sqrt((agreement * (1 - agreement)) / (total * (1 - chance) ** 2));
  return { kappa, agreement, low: Math.max(-1, kappa - 1.96 * error), high: Math.min(1, kappa + 1.96 * error) };
}

function share(labels: readonly string[], label: string): number {
  return labels.filter((candidate) => candidate === label).length / labels.length;
}
