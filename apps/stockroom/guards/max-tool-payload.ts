import type { ToolExecutor, ToolResult } from "belay-harness";
import { spacedJson } from "../json-text.ts";

const CHARACTERS_MAX = 4000;

/**
 * Wraps an executor: a result of more characters than `charactersMax` becomes the error `payload_too_large`, so that
 * it never reaches the model and the model is told how to ask for less. Default 4,000.
 */
export function maxToolPayload(inner: ToolExecutor, charactersMax: number = CHARACTERS_MAX): ToolExecutor {
  const limit = (result: ToolResult): ToolResult => {
    const length = result.ok ? spacedJson(result.value).length : 0;
    if (length <= charactersMax) {
      return result;
    }
    const message =
      `result of ${length} chars exceeds the ${charactersMax}-char limit; ` +
      "narrow the query or request fewer results";
    return { ok: false, error: { code: "payload_too_large", message, retryable: false } };
  };
  return {
    ...inner,
    execute: (tool, args, context) => {
      const result = inner.execute(tool, args, context);
      // A synchronous tool must stay one.
      return result instanceof Promise ? result.then(limit) : limit(result);
    },
  };
}
