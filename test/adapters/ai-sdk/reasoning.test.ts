import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdkModel } from "../../../src/adapters/ai-sdk/index.ts";
import { createHarness, defineAgent, defineTool } from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import { type ModelReply, type ModelRequest, scriptedModel } from "../../../src/model/index.ts";
import { data } from "./wire/format.ts";
import {
  ANTHROPIC,
  answerOf,
  GOOGLE,
  OPENAI_RESPONSES,
  REQUEST,
  startWireServer,
  type WireAnswer,
} from "./wire/index.ts";

const SIGNED = "c2lnbmVkIGJ5IHRoZSBwcm92aWRlcg==";

interface Case {
  readonly name: string;
  readonly model: (url: string) => LanguageModelV4;
  readonly thinking: (isStreaming: boolean) => WireAnswer;
  readonly answer: (isStreaming: boolean) => WireAnswer;
  /** What of the second request shows that everything came back. */
  readonly came: (body: unknown) => unknown;
  readonly expected: unknown;
  readonly providerOptions?: Parameters<typeof aiSdkModel>[1];
}

const anthropicEvent = (type: string, fields: object): string => data({ type, ...fields }, type);
const anthropicMessage = { id: "msg_1", type: "message", role: "assistant", model: "wire-model", content: [] };
const anthropicUsage = { input_tokens: 10, output_tokens: 5 };
const THOUGHT = { type: "thinking", thinking: "O-2 must be looked up", signature: SIGNED };
const USE = { type: "tool_use", id: "toolu_1", name: "lookup", input: { id: "O-2" } };

const CASES: readonly Case[] = [
  {
    name: "Anthropic: the signed thinking block and a redacted one, before the call",
    model: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: "k" })("claude-sonnet-4-5"),
    thinking: (isStreaming) =>
      isStreaming
        ? {
            kind: "events",
            events: [
              anthropicEvent("message_start", { message: { ...anthropicMessage, usage: anthropicUsage } }),
              anthropicEvent("content_block_start", {
                index: 0,
                content_block: { type: "thinking", thinking: "", signature: "" },
              }),
              ...["O-2 must", " be looked up"].map((thinking) =>
                anthropicEvent("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking } }),
              ),
              anthropicEvent("content_block_delta", {
                index: 0,
                delta: { type: "signature_delta", signature: SIGNED },
              }),
              anthropicEvent("content_block_stop", { index: 0 }),
              anthropicEvent("content_block_start", {
                index: 1,
                content_block: { type: "redacted_thinking", data: "hidden" },
              }),
              anthropicEvent("content_block_stop", { index: 1 }),
              anthropicEvent("content_block_start", { index: 2, content_block: { ...USE, input: {} } }),
              anthropicEvent("content_block_delta", {
                index: 2,
                delta: { type: "input_json_delta", partial_json: '{"id":"O-2"}' },
              }),
              anthropicEvent("content_block_stop", { index: 2 }),
              anthropicEvent("message_delta", { delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } }),
              anthropicEvent("message_stop", {}),
            ],
          }
        : {
            kind: "json",
            body: {
              ...anthropicMessage,
              content: [THOUGHT, { type: "redacted_thinking", data: "hidden" }, USE],
              stop_reason: "tool_use",
              usage: anthropicUsage,
            },
          },
    answer: (isStreaming) => answerOf(ANTHROPIC, { text: "It was sent." }, isStreaming),
    came: (body) => (body as { messages: unknown[] }).messages.slice(1),
    expected: [
      { role: "assistant", content: [THOUGHT, { type: "redacted_thinking", data: "hidden" }, USE] },
      { role: "user", content: [expect.objectContaining({ type: "tool_result", tool_use_id: "toolu_1" })] },
    ],
    providerOptions: { providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } } },
  },
  {
    name: "OpenAI responses: the encrypted reasoning item",
    model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "k" }).responses("o4-mini"),
    thinking: (isStreaming) => {
      const items = [
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: SIGNED },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "call_1",
          name: "lookup",
          arguments: '{"id":"O-2"}',
          status: "completed",
        },
      ];
      const end = { status: "completed", usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } };
      const response = { id: "resp_1", object: "response", created_at: 1, model: "o4-mini" };
      const event = (type: string, fields: object): string => data({ type, sequence_number: 1, ...fields }, type);
      return isStreaming
        ? {
            kind: "events",
            events: [
              event("response.created", { response }),
              ...items.flatMap((item, output_index) => [
                event("response.output_item.added", {
                  output_index,
                  item: {
                    ...item,
                    ...(item.type === "reasoning" ? { encrypted_content: "early" } : { arguments: "" }),
                  },
                }),
                event("response.output_item.done", { output_index, item }),
              ]),
              event("response.completed", { response: { ...response, ...end } }),
            ],
          }
        : { kind: "json", body: { ...response, ...end, output: items } };
    },
    answer: (isStreaming) => answerOf(OPENAI_RESPONSES, { text: "It was sent." }, isStreaming),
    came: (body) => (body as { input: unknown[] }).input.slice(2),
    expected: [
      expect.objectContaining({ type: "reasoning", id: "rs_1", encrypted_content: SIGNED }),
      expect.objectContaining({ type: "function_call", call_id: "call_1", arguments: '{"id":"O-2"}' }),
      expect.objectContaining({ type: "function_call_output", call_id: "call_1" }),
    ],
    providerOptions: { providerOptions: { openai: { store: false } } },
  },
  {
    name: "Google: the thought signature on the call",
    model: (url) => createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey: "k" })("gemini-3-pro-preview"),
    thinking: (isStreaming) => {
      const body = {
        candidates: [
          {
            index: 0,
            content: {
              role: "model",
              parts: [{ functionCall: { name: "lookup", args: { id: "O-2" } }, thoughtSignature: SIGNED }],
            },
            finishReason: "STOP",
          },
        ],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      };
      return isStreaming ? { kind: "events", events: [data(body)] } : { kind: "json", body };
    },
    answer: (isStreaming) => answerOf(GOOGLE, { text: "It was sent." }, isStreaming),
    came: (body) => (body as { contents: { parts: unknown[] }[] }).contents[1]?.parts,
    expected: [
      expect.objectContaining({
        functionCall: expect.objectContaining({ name: "lookup", args: { id: "O-2" } }),
        thoughtSignature: SIGNED,
      }),
    ],
  },
];

const lookup = defineTool({
  name: "lookup",
  description: "Looks up",
  level: "read",
  recovery: "read",
  input: z.strictObject({ id: z.string() }),
  execute: () => ({ status: "sent" }),
});
const agent = defineAgent({ name: "desk", revision: "1", instructions: "You help.", tools: [lookup], rules: [] });

describe.each(CASES)("$name", ({ model, thinking, answer, came, expected, providerOptions }) => {
  it.each([false, true])("goes back with the next request of the run; streaming: %s", async (isStreaming) => {
    await using server = await startWireServer([thinking(isStreaming), answer(isStreaming)]);
    const store = createMemoryStore();
    const harness = createHarness({ agent, model: aiSdkModel(model(server.url), providerOptions), store });
    const told: string[] = [];
    const handle = harness.run("Where is O-2?", isStreaming ? { onDelta: (text) => void told.push(text) } : {});
    const result = await handle.result;
    expect(result).toMatchObject({ status: "done", answer: "It was sent." });
    expect(came(server.requests[1]?.body)).toEqual(expected);
    expect(told.join("")).toBe(isStreaming ? "It was sent." : "");
    // Kept in the journal, where an auditor finds it, and in no record that cannot forget.
    expect(JSON.stringify(await store.read(result))).toContain(SIGNED);
    expect(JSON.stringify(await store.audit.entries(0, 100))).not.toContain(SIGNED);
  });

  it("goes back from the journal, in another process", async () => {
    await using server = await startWireServer([thinking(false), answer(false)]);
    const store = createMemoryStore();
    const stop = new AbortController();
    const waiting = defineTool({
      ...lookup,
      execute: () => {
        stop.abort();
        return { status: "sent" };
      },
    });
    const one = createHarness({
      agent: { ...agent, tools: [waiting] },
      model: aiSdkModel(model(server.url), providerOptions),
      store,
    });
    const run = { tenant: "default", runId: "run-1" };
    await one.start("Where is O-2?", run);
    await one.advance(run, { signal: stop.signal });
    expect(server.requests.length).toBe(1);
    const other = createHarness({
      agent,
      model: aiSdkModel(model(server.url), providerOptions),
      store,
    });
    expect(await other.advance(run)).toMatchObject({ status: "done" });
    expect(came(server.requests[1]?.body)).toEqual(expected);
  });

  it("goes to no other model", async () => {
    await using server = await startWireServer([thinking(false), answer(false)]);
    const store = createMemoryStore();
    const stop = new AbortController();
    const waiting = defineTool({
      ...lookup,
      execute: () => {
        stop.abort();
        return { status: "sent" };
      },
    });
    const run = { tenant: "default", runId: "run-1" };
    const one = createHarness({
      agent: { ...agent, tools: [waiting] },
      model: aiSdkModel(model(server.url), providerOptions),
      store,
    });
    await one.start("Where is O-2?", run);
    await one.advance(run, { signal: stop.signal });
    const another = scriptedModel([{ kind: "final", text: "ok" }], { id: "another" });
    const other = createHarness({ agent, model: another, store, allowOtherModel: true });
    await other.advance(run);
    expect(JSON.stringify(another.requests)).toContain("sent");
    expect(JSON.stringify(another.requests)).not.toContain(SIGNED);
  });
});

describe("data of a provider that come from a store", () => {
  const call = { callId: "c1.1", tool: "lookup", args: { id: "O-2" } };
  const askedWith = async (providerData: unknown) => {
    const [anthropic] = CASES;
    await using server = await startWireServer([answerOf(ANTHROPIC, { text: "ok" }, false)]);
    const client = aiSdkModel(anthropic?.model(server.url) as LanguageModelV4);
    const messages: ModelRequest["messages"] = [
      { role: "user", text: "Where?" },
      { role: "assistant", text: "I look.", calls: [call], providerData: providerData as never },
      { role: "tool", callId: "c1.1", tool: "lookup", text: "sent", isError: false },
    ];
    await client.generate({ ...REQUEST, messages }, { signal: new AbortController().signal });
    return (server.requests.map(({ body }) => body)[0] as { messages: { content: unknown[] }[] }).messages;
  };

  it.each<readonly [string, unknown]>([
    ["no data", undefined],
    ["no object", "parts"],
    ["no list", { parts: {} }],
    ["an unknown part", { parts: [{ type: "tool-result" }, { type: "call", id: "x" }] }],
    ["no text", { parts: [{ type: "reasoning" }, { type: "call", id: "x" }] }],
    ["metadata that is no object", { parts: [{ type: "call", id: "x", metadata: { anthropic: 3 } }] }],
    [
      "a negative length",
      {
        parts: [
          { type: "text", length: -1 },
          { type: "call", id: "x" },
        ],
      },
    ],
    [
      "another number of calls",
      {
        parts: [
          { type: "call", id: "x" },
          { type: "call", id: "y" },
        ],
      },
    ],
  ])("are left out when they are of no message: %s", async (_what, providerData) => {
    expect((await askedWith(providerData))[1]?.content).toEqual([
      { type: "text", text: "I look." },
      expect.objectContaining({ type: "tool_use", id: "c1_1", input: { id: "O-2" } }),
    ]);
  });

  it("change neither the text nor the arguments of a message", async () => {
    const parts = [
      { type: "text", length: 3 },
      { type: "reasoning", text: "hm", metadata: { anthropic: { signature: "s" } } },
      { type: "text", length: 99, text: "forged" },
      { type: "call", id: "toolu_9", input: { id: "forged" }, tool: "forged" },
    ];
    const messages = await askedWith({ parts });
    expect(messages[1]?.content).toEqual([
      { type: "text", text: "I l" },
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "ook." },
      { type: "tool_use", id: "toolu_9", name: "lookup", input: { id: "O-2" } },
    ]);
    expect(messages[2]?.content).toEqual([expect.objectContaining({ tool_use_id: "toolu_9" })]);
  });
});

const LOOKUP = { tool: "lookup", args: { json: { id: "O-2" } } };

describe("data of a provider that cannot be kept", () => {
  it("make the reply unreadable, and nothing of it is kept or run", async () => {
    const replies: ModelReply[] = [
      { kind: "calls", text: "", calls: [LOOKUP], providerData: "x".repeat(300_000) },
      { kind: "final", text: "short" },
    ];
    const model = scriptedModel(replies);
    const store = createMemoryStore();
    const result = await createHarness({ agent, model, store }).run("Where?").result;
    expect(result).toMatchObject({ status: "done", answer: "short", calls: [] });
    const kept = (await store.read(result)).find(({ event }) => event.type === "model.replied")?.event;
    expect(kept).toMatchObject({ output: { kind: "unreadable" } });
  });

  it("are left out when JSON cannot hold them", async () => {
    const model = scriptedModel([
      { kind: "calls", text: "", calls: [LOOKUP], providerData: { when: new Date() } as never },
      { kind: "final", text: "ok" },
    ]);
    const result = await createHarness({ agent, model, store: createMemoryStore() }).run("Where?").result;
    expect(result.status).toBe("done");
    expect(model.requests[1]?.messages[1]).not.toHaveProperty("providerData");
  });
});
