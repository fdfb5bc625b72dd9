import { type CallOutcome, checkJsonValue, type JsonValue, type Message, type ToolError } from "../core/index.ts";
import type { ModelMessage } from "../model/index.ts";
import { wrapUntrusted } from "./untrusted.ts";

/** What to tell the model for a failed call. */
export type FormatToolError = (error: ToolError, call: { readonly tool: string; readonly status: string }) => JsonValue;

export interface RenderOptions {
  /** Default `formatToolError`. */
  readonly formatToolError?: FormatToolError;
  /** Tools whose own failures (status `failed`) are wrapped too, since outsiders may have written their texts. */
  readonly untrustedTools?: ReadonlySet<string>;
  /** The model that is asked: what its provider gave with its own messages goes back, and nothing of another model's. */
  readonly modelId?: string;
}

/** The default: `{ error: code, message, …details }`. */
export function formatToolError(error: ToolError): JsonValue {
  const { code, message, details } = error;
  if (details === undefined) {
    return { error: code, message };
  }
  const isObject = typeof details === "object" && details !== null && !Array.isArray(details);
  // Assigned twice: to come first, and to win over a detail of the same name.
  return isObject
    ? Object.assign({ error: code, message }, details, { error: code, message })
    : { error: code, message, details };
}

/** Makes of a run's messages what the model will read. `createTranscript` does the same step by step. */
export function renderMessages(messages: readonly Message[], options: RenderOptions): readonly ModelMessage[] {
  return messages.map((message) => renderMessage(message, options));
}

/** One message as the model reads it; `summary` stands in for a tool result that was compacted. */
export function renderMessage(message: Message, options: RenderOptions, summary?: string): ModelMessage {
  switch (message.role) {
    case "user":
    case "harness":
      return message;
    case "assistant": {
      const calls = message.calls.map(({ callId, tool, args }) => ({ callId, tool, args }));
      const { text, providerData } = message;
      const isOwn = providerData !== undefined && providerData.model === options.modelId;
      return { role: "assistant", text, calls, ...(isOwn && { providerData: providerData.data }) };
    }
    case "tool": {
      const { callId, tool, outcome } = message;
      const text = summary ?? JSON.stringify(shownValue(tool, outcome, options));
      const shown = isUntrusted(tool, outcome, options) ? wrapUntrusted(tool, text) : text;
      return { role: "tool", callId, tool, text: shown, isError: outcome.status !== "ok" };
    }
  }
}

function isUntrusted(tool: string, outcome: CallOutcome, options: RenderOptions): boolean {
  return outcome.status === "ok"
    ? outcome.untrusted === true
    : outcome.status === "failed" && options.untrustedTools?.has(tool) === true;
}

function shownValue(tool: string, outcome: CallOutcome, options: RenderOptions): JsonValue {
  if (outcome.view !== undefined) {
    return outcome.view;
  }
  if (outcome.status !== "ok") {
    return shownError(tool, outcome, options.formatToolError ?? formatToolError);
  }
  const { json, blob } = outcome.value;
  if (json !== undefined) {
    return json;
  }
  const message = "the result is too large to be shown";
  return blob === undefined ? null : { blob: `sha256:${blob.sha256}`, bytes: blob.bytes, message };
}

function shownError(tool: string, outcome: Exclude<CallOutcome, { status: "ok" }>, format: FormatToolError): JsonValue {
  try {
    const checked = checkJsonValue(format(outcome.error, { tool, status: outcome.status }), { repairText: true });
    return checked.ok ? checked.value : formatToolError(outcome.error);
  } catch {
    // An app's formatter that fails must not keep the model from hearing of the failure.
    return formatToolError(outcome.error);
  }
}
