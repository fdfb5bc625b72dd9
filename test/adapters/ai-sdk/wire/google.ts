import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { data, finishOf, halves, USAGE, type WireFormat, type WireReply } from "./format.ts";

const FINISH = { stop: "STOP", calls: "STOP", length: "MAX_TOKENS", filter: "SAFETY" } as const;

export const GOOGLE: WireFormat = {
  name: "Google generateContent",
  hasTextArguments: false,
  model: (url) => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: "sk-secret" })("wire-model"),
  json: (reply) => response(reply, partsOf(reply), FINISH[finishOf(reply)]),
  events: (reply) => [
    ...(reply.text === undefined ? [] : halves(reply.text)).map((text) => data(response(reply, [{ text }]))),
    ...partsOf({ ...(reply.calls && { calls: reply.calls }) }).map((part) => data(response(reply, [part]))),
    data(response(reply, [{ text: "" }], FINISH[finishOf(reply)])),
  ],
  error: (message) => ({ error: { code: 500, message, status: "SOME_ERROR" } }),
};

function partsOf(reply: WireReply): readonly object[] {
  return [
    ...(reply.text === undefined ? [] : [{ text: reply.text }]),
    ...(reply.calls ?? []).map(({ name, args }) => ({ functionCall: { name, args: JSON.parse(args) } })),
  ];
}

function response({ usage = USAGE }: WireReply, parts: readonly object[], finishReason?: string): object {
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason !== undefined && { finishReason }) }],
    usageMetadata: {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    },
  };
}
