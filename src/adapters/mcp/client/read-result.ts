import type { CallToolResult } from "@modelcontextprotocol/client";
import { checkJsonValue, type JsonValue } from "../../../core/index.ts";
import { type ToolContract, type ToolFailure, toolFailure } from "../../../tool/index.ts";
import { cleanText } from "../clean-text.ts";
import { isJsonObject, ownValue } from "../json-object.ts";
import { META } from "../meta.ts";
import type { CompiledSchema } from "../schema/compile-schema.ts";

export const MCP_TOOL_ERROR = "mcp_tool_error";
export const MCP_RESULT_INVALID = "mcp_result_invalid";

const ERROR_CHARACTERS_MAX = 2_000;
/** Results that are larger are not checked against a schema, and so not taken when there is one. */
const CHECKED_CHARACTERS_MAX = 4_000_000;

export interface ResultReader {
  readonly contract: ToolContract;
  /** A server of ours: its failures are taken as it tells them. */
  readonly isOwn: boolean;
  readonly failuresAreDefinite: boolean;
  readonly output: CompiledSchema | undefined;
}

/** Makes a tool's value of what a server answered, or the failure that it reported. */
export function readResult(result: CallToolResult, reader: ResultReader): JsonValue | ToolFailure {
  if (result.isError === true) {
    return reportedFailure(result, reader);
  }
  const { structuredContent } = result;
  if (reader.output !== undefined) {
    return checkedOutput(structuredContent, reader.output);
  }
  if (structuredContent === undefined) {
    return contentValue(result);
  }
  const isWrapped = reader.isOwn && ownValue(result._meta, META.wrapped) === true;
  return (isWrapped ? ownValue(structuredContent, "value") : structuredContent) as JsonValue;
}

function reportedFailure(result: CallToolResult, reader: ResultReader): ToolFailure {
  const own = reader.isOwn ? ownError(result) : undefined;
  if (own !== undefined) {
    return own;
  }
  const message = `the tool reported a failure: ${cleanText(textOf(result), ERROR_CHARACTERS_MAX) || "no text"}`;
  const isDefinite = reader.contract.recovery === "read" || reader.failuresAreDefinite;
  return toolFailure(isDefinite ? MCP_TOOL_ERROR : "tool_failed", message);
}

function ownError(result: CallToolResult): ToolFailure | undefined {
  const error = ownValue(result._meta, META.error);
  const code = ownValue(error, "code");
  const message = ownValue(error, "message");
  if (typeof code !== "string" || typeof message !== "string") {
    return undefined;
  }
  const details = ownValue(error, "details") as JsonValue | undefined;
  const retryable = ownValue(error, "retryable") === true;
  return toolFailure(code, message, { retryable, ...(details === undefined ? {} : { details }) });
}

function checkedOutput(structuredContent: unknown, output: CompiledSchema): JsonValue | ToolFailure {
  if (structuredContent === undefined) {
    return invalidResult("it has no structured content, which the tool's output schema asks for");
  }
  const checked = checkJsonValue(structuredContent, {
    depthMax: 48,
    charactersMax: CHECKED_CHARACTERS_MAX,
    repairText: true,
  });
  if (!checked.ok) {
    return invalidResult(`${checked.path}: ${checked.message}`);
  }
  const [first] = output.check(checked.value);
  if (first === undefined) {
    return checked.value;
  }
  const place = (first.path ?? []).map(String).join(".");
  return invalidResult(`${place === "" ? "" : `${cleanText(place, 200)}: `}${cleanText(first.message, 300)}`);
}

function invalidResult(detail: string): ToolFailure {
  const message = `the tool ran, but its result does not match its output schema (${detail}); do not repeat it`;
  return toolFailure(MCP_RESULT_INVALID, message);
}

/** Text as text; of everything else what a model can use, without the bytes. */
function contentValue(result: CallToolResult): JsonValue {
  const { content } = result;
  return content.every(({ type }) => type === "text") ? textOf(result) : { content: content.map(describeBlock) };
}

function textOf({ content }: CallToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function describeBlock(block: CallToolResult["content"][number]): JsonValue {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      return { type: block.type, mimeType: block.mimeType, base64Characters: block.data.length };
    case "resource_link":
      return { type: "resource_link", uri: block.uri, name: block.name };
    case "resource": {
      const text = ownValue(block.resource, "text");
      const { uri } = block.resource;
      return typeof text === "string" ? { type: "resource", uri, text } : { type: "resource", uri };
    }
    default:
      return { type: isJsonObject(block) ? String(block["type"]) : "unknown" };
  }
}
