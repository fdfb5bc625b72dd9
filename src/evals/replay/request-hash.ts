import { createHash } from "node:crypto";
import { canonicalize, type JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { ModelMessage, ModelRequest } from "../../model/index.ts";

/** A request as it is recorded: call ids are made anew in each run, so they are numbered in the order of their use. */
export interface RecordedRequest {
  readonly model: string;
  readonly request: JsonValue;
}

/**
 * The SHA-256 of a request's canonical JSON (RFC 8785), in hex, with the model's id in it.
 *
 * Two requests have the same hash when a model is shown the same: call ids, which differ from run to run, are
 * numbered. Throws `BELAY_RECORDING_INVALID` for a request that JSON cannot hold.
 */
export function requestHash(model: string, request: ModelRequest): string {
  return hashOf(recordedRequest(model, request));
}

export function recordedRequest(model: string, request: ModelRequest): RecordedRequest {
  const { system, messages, tools, replyTokensMax, temperature } = request;
  const numbers = new Map<string, string>();
  const numbered = (callId: string): string => {
    const known = numbers.get(callId) ?? `call_${numbers.size + 1}`;
    numbers.set(callId, known);
    return known;
  };
  const plain = {
    system,
    messages: messages.map((message) => withNumbers(message, numbered)),
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    replyTokensMax,
    temperature,
  };
  return { model, request: plain as unknown as JsonValue };
}

export function hashOf(recorded: RecordedRequest): string {
  const canonical = canonicalize(recorded);
  if (!canonical.ok) {
    throw new BelayError(
      "BELAY_RECORDING_INVALID",
      `the request cannot be recorded: ${canonical.path} ${canonical.problem}; a request holds plain JSON alone`,
    );
  }
  return createHash("sha256").update(canonical.text).digest("hex");
}

function withNumbers(message: ModelMessage, numbered: (callId: string) => string): ModelMessage {
  switch (message.role) {
    case "assistant":
      return { ...message, calls: message.calls.map((call) => ({ ...call, callId: numbered(call.callId) })) };
    case "tool":
      return { ...message, callId: numbered(message.callId) };
    case "user":
    case "harness":
      return message;
  }
}
