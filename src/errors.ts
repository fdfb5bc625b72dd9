/**
 * Every error that Belay throws on purpose, with a stable code.
 *
 * Expected failures of a run (a refused call, an exceeded limit) are values, not errors; an error is for
 * misuse, bad configuration and lost storage. `docs/errors.md` lists the same codes with their remedies.
 */
export const BELAY_ERROR_CODES = [
  "BELAY_AUDIT_INVALID",
  "BELAY_CANONICAL_JSON",
] as const;

export type BelayErrorCode = (typeof BELAY_ERROR_CODES)[number];

/** One error class for the whole package: `code` is stable, the message names the thing, the value and the remedy. */
export class BelayError extends Error {
  override readonly name: string = "BelayError";
  readonly code: BelayErrorCode;
  constructor(code: BelayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
