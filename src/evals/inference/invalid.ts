import { BelayError } from "../../errors.ts";

/** The error for numbers about which nothing can be said. */
export function invalidStatistics(problem: string): BelayError {
  return new BelayError("BELAY_STATISTICS_INVALID", problem);
}

/** Throws `BELAY_STATISTICS_INVALID` unless every value is a finite number. */
export function checkFinite(values: readonly number[], what: string): void {
  const bad = values.find((value) => !Number.isFinite(value));
  if (bad !== undefined) throw invalidStatistics(`${what} holds ${bad}; every value must be a finite number`);
}

/** Throws `BELAY_STATISTICS_INVALID` unless `0 <= successes <= total` are whole numbers. */
export function checkCounts(successes: number, total: number): void {
  const areWhole = Number.isSafeInteger(successes) && Number.isSafeInteger(total);
  if (areWhole && successes >= 0 && successes <= total) return;
  throw invalidStatistics(`${successes} of ${total} are no counts; pass whole numbers with 0 <= successes <= total`);
}
