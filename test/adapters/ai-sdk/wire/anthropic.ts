import { createAnthropic } from "@ai-sdk/anthropic";
import { data, finishOf, halves, USAGE, type WireFormat, type WireReply } from "./format.ts";

const FINISH = { stop: "end_turn", calls: "tool_use", length: "max_tokens", filter: "refusal" } as const;

export const ANTHROPIC: WireFormat = {
  name: "Anthropic messages",
  hasTextArguments: false,
  model: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "sk-secret" })("wire-model"),
  json: (reply) => ({
    ...message(reply),
    content: [
      ...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]),
      ...(reply.calls ?? []).map(({ id, name, args }) => ({ type: "tool_use", id, name, input: JSON.parse(args) })),
    ],
    stop_reason: FINISH[finishOf(reply)],
    usage: usageOf(reply),
  }),
  events: (reply) => {
    const text = reply.text === undefined ? [] : [reply.text];
    return [
      event("message_start", {
        message: { ...message(reply), content: [], usage: { ...usageOf(reply), output_tokens: 1 } },
      }),
      ...text.flatMap((whole, index) => [
        event("content_block_start", { index, content_block: { type: "text", text: "" } }),
        ...halves(whole).map((half) =>
          event("content_block_delta", { index, delta: { type: "text_delta", text: half } }),
        ),
        event("content_block_stop", { index }),
      ]),
      ...(reply.calls ?? []).flatMap(({ id, name, args }, at) => {
        const index = text.length + at;
        return [
          event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } }),
          ...halves(args).map((partial_json) =>
            event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } }),
          ),
          event("content_block_stop", { index }),
        ];
      }),
      event("message_delta", {
        delta: { stop_reason: FINISH[finishOf(reply)], stop_sequence: null },
        usage: { output_tokens: (reply.usage ?? USAGE).output },
      }),
      event("message_stop", {}),
    ];
  },
  error: (text) => ({ type: "error", error: { type: "some_error", message: text } }),
};

function message(_reply: WireReply): object {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "wire-model",
    stop_reason: null,
    stop_sequence: null,
  };
}

/** Anthropic counts cached tokens apart from the others. */
function usageOf({ usage = USAGE }: WireReply): object {
  return {
    input_tokens: usage.input - usage.cached,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
  };
}

function event(type: string, fields: object): string {
  return data({ type, ...fields }, type);
}
