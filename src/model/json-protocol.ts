import { type JsonValue, parseStrictJson } from "../core/index.ts";
import type { ModelClient, ModelMessage, ModelReply, ToolSpec } from "./model-client.ts";
import type { TextMessage, TextModel } from "./text-model.ts";

/** What the model is told about a reply that is not in the agreed format. */
export const UNREADABLE_REPLY = "Your reply was not one JSON object. Reply with JSON only.";

/**
 * Makes a `ModelClient` of a model that only speaks text.
 *
 * A reply must be exactly one JSON object, `{"tool": …, "args": …}` or `{"final": …}`, and nothing around it; anything
 * else is `unreadable`, also an object with a key that appears twice, since readers would disagree about it.
 */
export function jsonProtocol(textModel: TextModel): ModelClient {
  return {
    id: textModel.id,
    generate: async (request, { signal, onDelta }) => {
      const completed = await textModel.complete(
        {
          system: `${request.system}\n\n${instructions(request.tools)}`,
          messages: request.messages.flatMap(toTextMessages),
          replyTokensMax: request.replyTokensMax,
          temperature: request.temperature,
        },
        // Pieces of the JSON text are no words for a reader, so the answer is passed on as a whole.
        { signal },
      );
      const reply = readReply(completed.text);
      if (reply.kind === "final") {
        onDelta?.(reply.text);
      }
      return completed.usage === undefined ? reply : { ...reply, usage: completed.usage };
    },
  };
}

function readReply(text: unknown): ModelReply {
  const parsed = typeof text === "string" ? parseStrictJson(text) : undefined;
  const value = parsed?.ok === true ? parsed.value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { kind: "unreadable", problem: UNREADABLE_REPLY };
  }
  const fields = new Map<string, JsonValue>(Object.entries(value));
  const final = fields.get("final");
  if (fields.size === 1 && typeof final === "string") {
    return { kind: "final", text: final };
  }
  const tool = fields.get("tool");
  const args = fields.get("args");
  if (fields.size === 2 && typeof tool === "string" && args !== undefined) {
    return { kind: "calls", text: "", calls: [{ tool, args: { json: args } }] };
  }
  return { kind: "unreadable", problem: UNREADABLE_REPLY };
}

function instructions(tools: readonly ToolSpec[]): string {
  const listed = tools.map(
    (tool) => `- ${tool.name}: ${tool.description} Arguments as JSON Schema: ${JSON.stringify(tool.inputSchema)}`,
  );
  return [
    'Reply with exactly one JSON object and nothing else: {"tool": "<name>", "args": {…}} to use a tool, or ' +
      '{"final": "<answer>"} to answer.',
    listed.length === 0 ? "There are no tools." : "Tools:",
    ...listed,
  ].join("\n");
}

function toTextMessages(message: ModelMessage): readonly TextMessage[] {
  switch (message.role) {
    case "user":
    case "harness":
      return [{ role: "user", text: message.text }];
    case "tool":
      return [{ role: "user", text: `Result of ${message.tool}: ${message.text}` }];
    case "assistant":
      return assistantTexts(message).map((text) => ({ role: "assistant", text }));
  }
}

/** The JSON that the model would have written, one object a message. */
function assistantTexts(message: Extract<ModelMessage, { role: "assistant" }>): readonly string[] {
  return message.calls.length === 0
    ? [JSON.stringify({ final: message.text })]
    : message.calls.map(({ tool, args }) => JSON.stringify({ tool, args }));
}
