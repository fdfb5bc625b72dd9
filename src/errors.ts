/**
 * Every error that Belay throws on purpose, with a stable code.
 *
 * Expected failures of a run (a refused call, an exceeded limit) are values, not errors; an error is for
 * misuse, bad configuration and lost storage. `docs/errors.md` lists the same codes with their remedies.
 */
export const BELAY_ERROR_CODES = [
  "BELAY_ABLATION",
  "BELAY_AGENT_INVALID",
  "BELAY_APPROVAL_DECIDED",
  "BELAY_APPROVAL_EXPIRED",
  "BELAY_APPROVAL_UNKNOWN",
  "BELAY_APP_UNKNOWN",
  "BELAY_AUDIT_INVALID",
  "BELAY_AUDIT_RECORD_UNKNOWN",
  "BELAY_CANONICAL_JSON",
  "BELAY_CLOCK_BACKWARDS",
  "BELAY_COMMIT_INVALID",
  "BELAY_CONFIG_COMMONJS",
  "BELAY_CONFIG_IMPORT",
  "BELAY_CONFIG_INVALID",
  "BELAY_CONFIG_NODE_OLD",
  "BELAY_CONFIG_NOT_FOUND",
  "BELAY_CONFIG_PEER_MISSING",
  "BELAY_CONFIG_SYNTAX",
  "BELAY_EVAL_CASE",
  "BELAY_EVAL_SUITE_UNKNOWN",
  "BELAY_EVENT_INVALID",
  "BELAY_EVENT_TOO_LARGE",
  "BELAY_FILE_UNREADABLE",
  "BELAY_FILTER_INVALID",
  "BELAY_ID_INVALID",
  "BELAY_INPUT_EMPTY",
  "BELAY_INPUT_INVALID",
  "BELAY_INPUT_TOO_LONG",
  "BELAY_INTERNAL",
  "BELAY_JOURNAL_TOO_NEW",
  "BELAY_LIMIT_INVALID",
  "BELAY_NOT_PERMITTED",
  "BELAY_PRICE_INVALID",
  "BELAY_PRICE_UNKNOWN",
  "BELAY_RULE_DUPLICATE",
  "BELAY_RULE_INVALID",
  "BELAY_RULE_UNKNOWN_TOOL",
  "BELAY_RUN_BUSY",
  "BELAY_RUN_EXISTS",
  "BELAY_RUN_OTHER_AGENT",
  "BELAY_RUN_UNKNOWN",
  "BELAY_SCRIPT_EXHAUSTED",
  "BELAY_SCRIPT_LEFT_OVER",
  "BELAY_STATISTICS_INVALID",
  "BELAY_STORE_CLOSED",
  "BELAY_STORE_CORRUPT",
  "BELAY_STORE_FAILED",
  "BELAY_STORE_FOREIGN",
  "BELAY_STORE_FULL",
  "BELAY_STORE_LOCKED",
  "BELAY_STORE_MISMATCH",
  "BELAY_STORE_MISSING",
  "BELAY_STORE_NETWORK_FS",
  "BELAY_STORE_PATH",
  "BELAY_STORE_READ_ONLY",
  "BELAY_STORE_SQLITE_OLD",
  "BELAY_STORE_TOO_NEW",
  "BELAY_TOOL_CONTRACT",
  "BELAY_TOOL_DUPLICATE",
  "BELAY_TOOL_NAME",
  "BELAY_TOOL_SCHEMA",
  "BELAY_TOOL_UNKNOWN",
  "BELAY_USAGE",
  "BELAY_WORLD_INVALID",
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
