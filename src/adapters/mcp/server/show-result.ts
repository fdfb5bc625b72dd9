import type { CallToolResult } from "@modelcontextprotocol/server";
import { type FormatToolError, formatToolError } from "../../../context/index.ts";
import { checkJsonValue, type JsonValue, type ToolError } from "../../../core/index.ts";
import type { ToolResult } from "../../../tool/index.ts";
import { isJsonObject } from "../json-object.ts";
import { META } from "../meta.ts";

/**
 * A tool's result as the protocol tells it: `structuredContent` and the same as text.
 *
 * A failure has `isError`, the app's own error shape, and under `_meta` the error as a harness of ours knows it.
 */
export function showResult(tool: string, result: ToolResult, format: FormatToolError | undefined): CallToolResult {
  if (result.ok) {
    return shownValue(result.value);
  }
  const shown = shownError(tool, result.error, format);
  return {
    isError: true,
    content: [{ type: "text", text: JSON.stringify(shown) }],
    structuredContent: isJsonObject(shown) ? shown : { error: shown },
    _meta: { [META.error]: { ...result.error } },
  };
}

/** A text is text; everything else is structured, in an object because the older era takes nothing else. */
function shownValue(value: JsonValue): CallToolResult {
  if (typeof value === "string") {
    return { content: [{ type: "text", text: value }] };
  }
  const content = [{ type: "text" as const, text: JSON.stringify(value) }];
  return isJsonObject(value)
    ? { content, structuredContent: value }
    : { content, structuredContent: { value }, _meta: { [META.wrapped]: true } };
}

function shownError(tool: string, error: ToolError, format: FormatToolError = formatToolError): JsonValue {
  try {
    const checked = checkJsonValue(format(error, { tool, status: "failed" }), { repairText: true });
    return checked.ok ? checked.value : formatToolError(error);
  } catch {
    // An app's formatter that fails must not keep the caller from hearing of the failure.
    return formatToolError(error);
  }
}
