import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { converseRequest } from "../../../src/adapters/bedrock/converse-request.ts";
import { cachePointsOf } from "../../../src/adapters/bedrock/index.ts";
import type { ModelMessage, ModelRequest } from "../../../src/model/index.ts";

const TOOL = { name: "find", description: "Finds", inputSchema: { type: "object" } };
const base: ModelRequest = { system: "S", messages: [], tools: [TOOL], replyTokensMax: 9, temperature: 0.5 };
const none = { system: false, tools: false };
const messagesOf = (messages: readonly ModelMessage[], tools = base.tools) =>
  converseRequest("m", { ...base, messages, tools }, none).messages ?? [];

const ASKED: ModelMessage = { role: "user", text: "Find both" };
const CALLED: ModelMessage = {
  role: "assistant",
  text: "",
  calls: [
    { callId: "c1.1", tool: "find", args: { what: "a" } },
    { callId: "c1.2", tool: "find", args: "b" },
  ],
};
const result = (callId: string, text: string, isError = false): ModelMessage => ({
  role: "tool",
  callId,
  tool: "find",
  text,
  isError,
});

describe("converseRequest", () => {
  it("puts the results of a turn into one message, before any other words, under ids that the service takes", () => {
    const messages = messagesOf([
      ASKED,
      CALLED,
      result("c1.1", "A"),
      { role: "harness", text: "Go on." },
      result("c1.2", " ", true),
      { role: "user", text: "" },
    ]);
    expect(messages).toEqual([
      { role: "user", content: [{ text: "Find both" }] },
      {
        role: "assistant",
        content: [
          { toolUse: { toolUseId: "call_1", name: "find", input: { what: "a" } } },
          { toolUse: { toolUseId: "call_2", name: "find", input: { arguments: "b" } } },
        ],
      },
      {
        role: "user",
        content: [
          { toolResult: { toolUseId: "call_1", content: [{ text: "A" }], status: "success" } },
          { toolResult: { toolUseId: "call_2", content: [{ text: "(no text)" }], status: "error" } },
          { text: "Go on." },
          { text: "(no text)" },
        ],
      },
    ]);
  });

  it("gives reasoning back unchanged, where it stood", () => {
    const blocks = [
      { type: "reasoning", text: "hm", signature: "sig" },
      { type: "redacted", bytes: "AQID" },
      { type: "text", length: 7 },
      { type: "call" },
      { type: "reasoning", text: "and the other" },
      { type: "call" },
    ];
    const message: ModelMessage = { ...CALLED, text: "I look.", providerData: { blocks } } as ModelMessage;
    expect(messagesOf([ASKED, message])[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
      { reasoningContent: { redactedContent: Buffer.of(1, 2, 3) } },
      { text: "I look." },
      { toolUse: { toolUseId: "call_1", name: "find", input: { what: "a" } } },
      { reasoningContent: { reasoningText: { text: "and the other" } } },
      { toolUse: { toolUseId: "call_2", name: "find", input: { arguments: "b" } } },
    ]);
    // Without tools there are no calls that it could stand before.
    expect(JSON.stringify(messagesOf([ASKED, message], []))).not.toContain("reasoningContent");
  });

  it.each([
    [undefined],
    ["blocks"],
    [{ blocks: [{ type: "call" }] }],
    [{ blocks: [{ type: "reasoning" }, { type: "call" }, { type: "call" }] }],
    [{ blocks: [{ type: "redacted", bytes: 3 }, { type: "call" }, { type: "call" }] }],
  ])("leaves out data that are of no message: %j", (providerData) => {
    const message = { ...CALLED, providerData } as ModelMessage;
    expect(messagesOf([ASKED, message])).toEqual(messagesOf([ASKED, CALLED]));
  });

  it("tells calls and results as text when there are no tools, and sends no tool configuration", () => {
    const messages = [ASKED, CALLED, result("c1.1", "A"), result("c1.2", "B", true)];
    const request = converseRequest("m", { ...base, tools: [], system: " ", messages }, { system: true, tools: true });
    expect(request).toEqual({
      modelId: "m",
      inferenceConfig: { maxTokens: 9, temperature: 0.5 },
      messages: [
        { role: "user", content: [{ text: "Find both" }] },
        {
          role: "assistant",
          content: [{ text: 'Call of find: {"what":"a"}' }, { text: 'Call of find: "b"' }],
        },
        { role: "user", content: [{ text: "Result of find: A" }, { text: "Failure of find: B" }] },
      ],
    });
  });

  it("marks the system prompt and the tools for the cache where asked to", () => {
    const cachePoint = { type: "default" };
    const { system, toolConfig } = converseRequest("m", base, { system: true, tools: true });
    expect(system).toEqual([{ text: "S" }, { cachePoint }]);
    expect(toolConfig?.tools?.at(-1)).toEqual({ cachePoint });
    const plain = converseRequest("m", base, none);
    expect([plain.system?.length, plain.toolConfig?.tools?.length]).toEqual([1, 1]);
  });

  it.each([
    ["amazon.nova-micro-v1:0", true, false],
    ["eu.amazon.nova-pro-v1:0", true, false],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", true, true],
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", true, true],
    ["anthropic.claude-3-haiku-20240307-v1:0", false, false],
    ["meta.llama3-70b-instruct-v1:0", false, false],
  ])("knows the cache points of %s", (modelId, system, tools) => {
    expect(cachePointsOf(modelId)).toEqual({ system, tools });
  });

  it("alternates the roles, has no blank text, and gives each result the id of its call", () => {
    const turn = fc
      .record({ text: fc.constantFrom("", "words"), calls: fc.nat(3), said: fc.constantFrom("", "more", undefined) })
      .map(({ text, calls, said }) => ({ text, calls, said }));
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 6 }), fc.boolean(), (turns, hasTools) => {
        const messages = turns.flatMap(({ text, calls, said }, step): ModelMessage[] => {
          const ids = Array.from({ length: calls }, (_, at) => `c${step}.${at}`);
          return [
            { role: "assistant", text, calls: ids.map((callId) => ({ callId, tool: "find", args: {} })) },
            ...ids.map((id) => result(id, text)),
            ...(said === undefined ? [] : [{ role: "user" as const, text: said }]),
          ];
        });
        const sent = messagesOf([ASKED, ...messages], hasTools ? [TOOL] : []);
        expect(sent.every(({ role }, at) => role === (at % 2 === 0 ? "user" : "assistant"))).toBe(true);
        const blocks = sent.flatMap(({ content }) => content ?? []);
        expect(blocks.every(({ text }) => text === undefined || text.trim() !== "")).toBe(true);
        for (const [at, { content = [] }] of sent.entries()) {
          const used = (sent[at - 1]?.content ?? []).flatMap(({ toolUse }) => toolUse?.toolUseId ?? []);
          const answered = content.flatMap(({ toolResult }) => toolResult?.toolUseId ?? []);
          if (sent[at]?.role === "user") expect(answered).toEqual(used);
        }
      }),
    );
  });
});
