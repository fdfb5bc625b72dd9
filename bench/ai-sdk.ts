import type { LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import { MockLanguageModelV4 } from "ai/test";
import { aiSdkModel } from "belay-harness/ai-sdk";
import { line, medianMicroseconds, microseconds } from "./support.ts";

const CALLS = 2000;

/** A model call through the adapter beside the same call made directly, on the AI SDK's own mock model. */
export async function benchAiSdk(): Promise<void> {
  const result: LanguageModelV4GenerateResult = {
    content: [
      { type: "text", text: "One moment." },
      { type: "tool-call", toolCallId: "a", toolName: "lookup", input: '{"id":"O-1"}' },
    ],
    finishReason: { unified: "tool-calls", raw: "tool_calls" },
    usage: {
      inputTokens: { total: 100, noCache: 60, cacheRead: 40, cacheWrite: 0 },
      outputTokens: { total: 20, text: 20, reasoning: 0 },
    },
    warnings: [],
  };
  const model = new MockLanguageModelV4({ doGenerate: result });
  const client = aiSdkModel(model);
  const { signal } = new AbortController();
  const request = {
    system: "You help.",
    messages: Array.from({ length: 20 }, (_, n) => [
      { role: "assistant", text: "", calls: [{ callId: `c${n}.1`, tool: "lookup", args: { id: "O-1" } }] } as const,
      { role: "tool", callId: `c${n}.1`, tool: "lookup", text: '{"status":"sent"}', isError: false } as const,
    ]).flat(),
    tools: [{ name: "lookup", description: "Looks up", inputSchema: { type: "object" } }],
    replyTokensMax: 1000,
    temperature: 0,
  };
  const repeat = (call: () => PromiseLike<unknown>) => async (): Promise<void> => {
    for (let i = 0; i < CALLS; i += 1) await call();
    // The mock remembers every call, which is not what is measured.
    model.doGenerateCalls.length = 0;
  };
  const raw = await medianMicroseconds(
    CALLS,
    repeat(() => model.doGenerate({ prompt: [], abortSignal: signal })),
  );
  const adapted = await medianMicroseconds(
    CALLS,
    repeat(() => client.generate(request, { signal })),
  );
  line("AI SDK adapter: added to a call with 40 messages", microseconds(adapted - raw), "under 50 µs");
  line("  raw: doGenerate of the mock model", microseconds(raw));
}
