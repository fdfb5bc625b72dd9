import { BelayError, type BelayErrorCode } from "../errors.ts";

const FAILED = new Set<BelayErrorCode>(["BELAY_APPROVAL_EXPIRED", "BELAY_PRICE_FEED"]);
/** Not the fault of how the command was called, so that calling it in another way does not help. */
const INTERNAL =
  /^BELAY_(INTERNAL|RUN_BUSY|CANONICAL_JSON|CLOCK_BACKWARDS|COMMIT_INVALID|(EVENT|JOURNAL|SCRIPT|STORE)_.*)$/;
/** Of those, what the user named wrongly. */
const USAGE = new Set<BelayErrorCode>([
  "BELAY_STORE_FOREIGN",
  "BELAY_STORE_MISSING",
  "BELAY_STORE_NETWORK_FS",
  "BELAY_STORE_PATH",
]);

/** 1 failed, 2 wrong use, 3 internal or storage. */
export function exitCodeOf(error: BelayError): 1 | 2 | 3 {
  if (FAILED.has(error.code)) {
    return 1;
  }
  return INTERNAL.test(error.code) && !USAGE.has(error.code) ? 3 : 2;
}

/** Every error as one of ours; the text of an unexpected one is not shown, because it may hold a secret. */
export function asBelayError(error: unknown): BelayError {
  if (error instanceof BelayError) {
    return error;
  }
  const kind = error instanceof Error ? error.name : typeof error;
  return new BelayError(
    "BELAY_INTERNAL",
    `An unexpected ${kind} stopped the command; what was recorded is kept. Run it again with BELAY_DEBUG=1 for details.`,
    { cause: error },
  );
}
