import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { data, finishOf, halves, USAGE, type WireFormat, type WireReply } from "./format.ts";

const FINISH = { stop: "stop", calls: "tool_calls", length: "length", filter: "content_filter" } as const;

const FORMAT: Omit<WireFormat, "name" | "model"> = {
  hasTextArguments: true,
  json: (reply) => ({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "wire-model",
    choices: [
      {
        index: 0,
        finish_reason: FINISH[finishOf(reply)],
        message: {
          role: "assistant",
          content: reply.text ?? null,
          ...(reply.refusal !== undefined && { refusal: reply.refusal }),
          ...(reply.calls !== undefined && {
            tool_calls: reply.calls.map(({ id, name, args }) => ({
              id,
              type: "function",
              function: { name, arguments: args },
            })),
          }),
        },
      },
    ],
    usage: usageOf(reply),
  }),
  events: (reply) => [
    chunk({ role: "assistant", content: "" }),
    ...(reply.text === undefined ? [] : halves(reply.text).map((content) => chunk({ content }))),
    ...(reply.refusal === undefined ? [] : halves(reply.refusal).map((refusal) => chunk({ refusal }))),
    ...(reply.calls ?? []).flatMap(({ id, name, args }, index) => [
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
      ...halves(args).map((half) => chunk({ tool_calls: [{ index, function: { arguments: half } }] })),
    ]),
    chunk({}, FINISH[finishOf(reply)]),
    data({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: usageOf(reply),
    }),
    data("[DONE]"),
  ],
  error: (message) => ({ error: { message, type: "some_error", param: null, code: null } }),
};

export const OPENAI_CHAT: WireFormat = {
  ...FORMAT,
  name: "OpenAI chat completions",
  model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "sk-secret" }).chat("wire-model"),
};

/** The same format as Ollama, vLLM and LM Studio speak it, read by the package for them. */
export const OPENAI_COMPATIBLE: WireFormat = {
  ...FORMAT,
  name: "OpenAI-compatible",
  model: (url) =>
    createOpenAICompatible({ name: "local", baseURL: `${url}/v1`, apiKey: "sk-secret", includeUsage: true })(
      "wire-model",
    ),
};

function chunk(delta: unknown, finish_reason: string | null = null): string {
  return data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "wire-model",
    choices: [{ index: 0, delta, finish_reason }],
  });
}

function usageOf({ usage = USAGE }: WireReply): unknown {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
}
