import type { BudgetRow } from "./store.ts";

/** The name of a row in a `StoreDifference`. */
export function rowName(...ids: readonly string[]): string {
  return ids.join("/");
}

/** Each run's parts, added up by tenant and budget. */
export function sumBudgets(parts: Iterable<BudgetRow>): ReadonlyMap<string, BudgetRow> {
  const sums = new Map<string, BudgetRow>();
  for (const part of parts) {
    const name = rowName(part.tenant, part.budget);
    const { used, reserved } = sums.get(name) ?? { used: 0, reserved: 0 };
    // Saturates as the projection does.
    const total = Math.min(used + part.used, Number.MAX_SAFE_INTEGER);
    sums.set(name, { ...part, used: total, reserved: reserved + part.reserved });
  }
  return sums;
}
