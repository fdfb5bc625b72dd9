import { type AiSdkOptions, aiSdkModel } from "../../../../src/adapters/ai-sdk/index.ts";
import type { ModelRequest } from "../../../../src/index.ts";
import type { WireFormat, WireReply } from "./format.ts";
import { startWireServer, type WireAnswer } from "./server.ts";

export const REQUEST: ModelRequest = {
  system: "You help.",
  messages: [{ role: "user", text: "Hello" }],
  tools: [
    {
      name: "lookup",
      description: "Looks up",
      inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    },
  ],
  replyTokensMax: 321,
  temperature: 0.25,
};
export const CALLS = [
  { id: "a1", name: "lookup", args: '{"id":"O-1","deep":{"n":1.5}}' },
  { id: "a2", name: "lookup", args: '{"id":"O-2"}' },
];
export const TEXT = "Good morning, dear customer.";

const never = new AbortController().signal;
export const once = { attemptsMax: 1 };

export async function asking(
  format: WireFormat,
  answers: readonly WireAnswer[],
  {
    isStreaming = false,
    request = REQUEST,
    signal = never,
    ...options
  }: AiSdkOptions & {
    isStreaming?: boolean;
    request?: ModelRequest;
    signal?: AbortSignal;
  } = {},
) {
  await using server = await startWireServer(answers);
  const deltas: string[] = [];
  const client = aiSdkModel(format.model(server.url), { retry: { wait: async () => undefined }, ...options });
  const outcome = await client
    .generate(request, { signal, ...(isStreaming && { onDelta: (text: string) => deltas.push(text) }) })
    .then(
      (reply) => ({ reply, error: undefined }),
      (error: unknown) => ({ reply: undefined, error }),
    );
  return { ...outcome, deltas, requests: server.requests };
}

export function answerOf(format: WireFormat, reply: WireReply, isStreaming: boolean): WireAnswer {
  return isStreaming ? { kind: "events", events: format.events(reply) } : { kind: "json", body: format.json(reply) };
}
