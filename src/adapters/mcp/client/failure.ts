import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import { type ToolContract, type ToolFailure, toolFailure } from "../../../tool/index.ts";
import { cleanText } from "../clean-text.ts";

export const MCP_UNAVAILABLE = "mcp_unavailable";
export const MCP_TIMEOUT = "mcp_timeout";
export const MCP_PROTOCOL_ERROR = "mcp_protocol_error";

/** What is known about a request that brought no result. */
export type Trouble =
  /** Nothing reached the server, so nothing happened there. */
  | { readonly kind: "not_sent"; readonly reason: string }
  /** It was sent, and the connection was lost before the answer. */
  | { readonly kind: "lost"; readonly reason: string }
  | { readonly kind: "timeout"; readonly reason: string }
  /** The server answered with an error of the protocol instead of a result. */
  | { readonly kind: "refused"; readonly reason: string; readonly isUnknownTool: boolean };

/** Failures of the network before a connection existed. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
const CAUSES_MAX = 8;

/** Reads the exception of a request. `isOver` says that the time or the caller's patience ended it. */
export function troubleOf(error: unknown, isOver: boolean): Trouble {
  if (SdkError.isInstance(error) && error.code === SdkErrorCode.NotConnected) {
    return { kind: "not_sent", reason: "it is not connected" };
  }
  if (isOver || (SdkError.isInstance(error) && error.code === SdkErrorCode.RequestTimeout)) {
    return { kind: "timeout", reason: "it gave no answer in time" };
  }
  if (ProtocolError.isInstance(error)) {
    const reason = `it answered with error ${error.code}: ${cleanText(error.message, 300)}`;
    return { kind: "refused", reason, isUnknownTool: error.code === -32_602 && /unknown tool/i.test(error.message) };
  }
  // The protocol's word for a session that is gone; such a request is not looked at.
  if (SdkHttpError.isInstance(error) && error.status === 404) {
    return { kind: "not_sent", reason: "its session is gone" };
  }
  return NEVER_CONNECTED.has(codeOf(error))
    ? { kind: "not_sent", reason: "it cannot be reached" }
    : { kind: "lost", reason: "the connection was lost before the answer" };
}

function codeOf(error: unknown): unknown {
  let cause: unknown = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === "object" && cause !== null; depth += 1) {
    if ("code" in cause && typeof cause.code === "string" && NEVER_CONNECTED.has(cause.code)) {
      return cause.code;
    }
    cause = "cause" in cause ? cause.cause : undefined;
  }
  return undefined;
}

/**
 * What the harness is told. A change that may have happened is `tool_failed`, which the engine takes as an outcome that
 * nobody knows; a definite failure is only what never left or what only reads.
 */
export function failureOf(trouble: Trouble, server: string, contract: ToolContract): ToolFailure {
  const message = `the tool server ${server} failed: ${trouble.reason}`;
  if (trouble.kind === "not_sent") {
    return toolFailure(MCP_UNAVAILABLE, message, { retryable: true });
  }
  if (trouble.kind === "refused" && trouble.isUnknownTool) {
    return toolFailure("unknown_tool", message);
  }
  if (contract.recovery !== "read") {
    return toolFailure("tool_failed", message);
  }
  if (trouble.kind === "refused") {
    return toolFailure(MCP_PROTOCOL_ERROR, message);
  }
  return toolFailure(trouble.kind === "timeout" ? MCP_TIMEOUT : MCP_UNAVAILABLE, message, { retryable: true });
}
