import type { JsonValue, ModelMessage } from "belay-harness";

export type Fields = { readonly [name: string]: JsonValue };

/** What a tool answered, read from the text that the model sees. */
export type Answer =
  | { readonly ok: true; readonly data: Fields }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly retryable: boolean };

/** A call of this run and its answer. */
export interface Attempt {
  readonly tool: string;
  readonly args: Fields;
  readonly answer: Answer;
}

export interface Conversation {
  /** The customer's own message. */
  readonly message: string;
  readonly attempts: readonly Attempt[];
}

/** Reads the run so far from its messages: the last message of the customer and the calls since. */
export function readConversation(messages: readonly ModelMessage[]): Conversation {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const user = messages[start];
  const calls = new Map<string, { tool: string; args: Fields }>();
  const attempts: Attempt[] = [];
  for (const message of messages.slice(start + 1)) {
    if (message.role === "assistant") {
      for (const { callId, tool, args } of message.calls) {
        calls.set(callId, { tool, args: fieldsOf(args) });
      }
    } else if (message.role === "tool") {
      const call = calls.get(message.callId) ?? { tool: message.tool, args: {} };
      attempts.push({ ...call, answer: readAnswer(message.text, message.isError) });
    }
  }
  return { message: user?.role === "user" ? user.text : "", attempts };
}

const UNREADABLE: Answer = { ok: false, code: "UNREADABLE", message: "the answer could not be read", retryable: false };

function readAnswer(text: string, isError: boolean): Answer {
  const data = fieldsOf(parseOrNothing(unwrap(text)));
  if (data["ok"] === true && !isError) {
    return { ok: true, data };
  }
  const error = fieldsOf(data["error"]);
  const code = error["code"];
  return typeof code === "string"
    ? { ok: false, code, message: String(error["message"] ?? ""), retryable: error["retryable"] === true }
    : UNREADABLE;
}

/** Takes the wrapper around outsiders' words off; what is inside stays data and is never read as a request. */
function unwrap(text: string): string {
  const wrapped = /^<untrusted\b[^>]*>([\s\S]*)<\/untrusted>$/.exec(text.trim());
  return wrapped?.[1] === undefined
    ? text
    : wrapped[1].replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function parseOrNothing(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: JsonValue | undefined): Fields {
  // Narrowing by Array.isArray does not know read-only arrays.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
