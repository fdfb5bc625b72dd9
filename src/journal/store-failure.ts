import { BelayError, type BelayErrorCode } from "../errors.ts";

/** What a failure of the database means for whoever runs the store. */
export interface StoreFailure {
  readonly code: BelayErrorCode;
  /** Follows the name of the store. */
  readonly problem: string;
  readonly remedy: string;
}

/** A failure that a store has no better words for. */
export const OTHER_FAILURE: StoreFailure = {
  code: "BELAY_STORE_FAILED",
  problem: "refused an operation",
  remedy: "Read the cause of this error; nothing was half written",
};

/** The typed error of a failure. `place` follows "The store"; the database's own text is the cause. */
export function storeFailure(place: string, { code, problem, remedy }: StoreFailure, cause: unknown): BelayError {
  return new BelayError(code, `The store ${place} ${problem}. ${remedy}.`, { cause });
}
