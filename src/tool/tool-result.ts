import { checkJsonValue, type StrictJsonFailure, type ToolError } from "../core/index.ts";
import type { ToolResult } from "./executor.ts";
import { isToolFailure } from "./tool-failure.ts";

const RESULT_CHARACTERS_MAX = 16_000_000;
const RESULT_DEPTH_MAX = 48;
const MESSAGE_CHARACTERS_MAX = 4_000;

/** What a tool's exception becomes: its text may hold a secret, so nothing of it is told. */
export const TOOL_FAILED: ToolError = {
  code: "tool_failed",
  message: "the tool failed; no detail is given",
  retryable: false,
};

/**
 * Makes a plain result of whatever a tool returned: `undefined` becomes `null`, a `toolFailure` its error, and what JSON
 * cannot hold `result_not_json`. `onBad` hears of the latter, since it is a mistake in the tool.
 */
export function resultOf(value: unknown, onBad: (failure: StrictJsonFailure) => void): ToolResult {
  if (isToolFailure(value)) {
    return { ok: false, error: plainError(value.error) };
  }
  const checked = checkJsonValue(value ?? null, {
    depthMax: RESULT_DEPTH_MAX,
    charactersMax: RESULT_CHARACTERS_MAX,
    repairText: true,
  });
  if (checked.ok) {
    return { ok: true, value: checked.value };
  }
  onBad(checked);
  const message = `the tool ran, but its result is not plain JSON (${checked.path}: ${checked.message}); do not repeat it`;
  return { ok: false, error: { code: "result_not_json", message, retryable: false } };
}

/** The types promise this much; a tool without types may not keep it. */
function plainError(error: ToolError): ToolError {
  const { code, message, retryable, details } = error;
  if (typeof code !== "string" || code === "" || typeof message !== "string") {
    return TOOL_FAILED;
  }
  const checked = details === undefined ? undefined : checkJsonValue(details, { repairText: true });
  return {
    code: code.toWellFormed(),
    message: message.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed(),
    retryable: retryable === true,
    ...(checked?.ok === true ? { details: checked.value } : {}),
  };
}
