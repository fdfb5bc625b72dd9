import type { JsonValue, ModelMessage } from "belay-harness";

export type Fields = { readonly [name: string]: JsonValue };

/** A call of this run and what came back. */
export interface Attempt {
  readonly tool: string;
  readonly args: Fields;
  readonly isError: boolean;
  /** As the model sees it, without the wrapper around other people's words. */
  readonly text: string;
  /** The text as data; empty when it is none, as for the summary of an older result. */
  readonly data: Fields;
}

export interface Conversation {
  readonly message: string;
  readonly attempts: readonly Attempt[];
}

/** Reads the run so far: the last message of the user and the calls since. */
export function readConversation(messages: readonly ModelMessage[]): Conversation {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const user = messages[start];
  const calls = new Map<string, { readonly tool: string; readonly args: Fields }>();
  const attempts: Attempt[] = [];
  for (const message of messages.slice(start + 1)) {
    if (message.role === "assistant") {
      for (const { callId, tool, args } of message.calls) {
        calls.set(callId, { tool, args: fieldsOf(args) });
      }
    } else if (message.role === "tool") {
      const { tool, args } = calls.get(message.callId) ?? { tool: message.tool, args: {} };
      const text = unwrapped(message.text);
      attempts.push({ tool, args, isError: message.isError, text, data: fieldsOf(parsed(text)) });
    }
  }
  return { message: user?.role === "user" ? user.text : "", attempts };
}

export function fieldsOf(value: JsonValue | undefined): Fields {
  // Narrowing by Array.isArray does not know read-only arrays.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: JsonValue | undefined): string {
  return value === undefined || value === null ? "" : String(value);
}

function unwrapped(text: string): string {
  const [, inner] = /^<untrusted\b[^>]*>([\s\S]*)<\/untrusted>$/.exec(text.trim()) ?? [];
  return inner === undefined ? text : inner.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
