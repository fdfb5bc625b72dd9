import type {
  LanguageModelV2,
  LanguageModelV4,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { type AiSdkLanguageModel, aiSdkModel } from "../../../src/adapters/ai-sdk/index.ts";
import type { ModelRequest } from "../../../src/index.ts";

const REQUEST: ModelRequest = {
  system: "",
  messages: [{ role: "user", text: "Hello" }],
  tools: [],
  replyTokensMax: 10,
  temperature: 0,
};
const signal = new AbortController().signal;
const once = { retry: { attemptsMax: 1 } };
const USAGE = {
  inputTokens: { total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 },
  outputTokens: { total: 7, text: 3, reasoning: 4 },
};
const STOP = { unified: "stop", raw: "stop" } as const;

function answering(result: object): LanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: async () =>
      ({ content: [], finishReason: STOP, usage: USAGE, warnings: [], ...result }) as LanguageModelV4GenerateResult,
  });
}

/** The newest SDK has no mock of the oldest specification. */
function v2(result: object, provider = "openai.chat"): LanguageModelV2 {
  return {
    specificationVersion: "v2",
    provider,
    modelId: "m-2",
    supportedUrls: {},
    doGenerate: async () => ({ warnings: [], ...result }) as never,
    doStream: async () => ({ stream: new ReadableStream() }),
  };
}

function streaming(parts: readonly object[]): LanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part as LanguageModelV4StreamPart);
          controller.close();
        },
      }),
    }),
  });
}

const generate = (model: AiSdkLanguageModel, options = {}) => aiSdkModel(model, options).generate(REQUEST, { signal });
const stream = (model: AiSdkLanguageModel, onDelta = (_: string): void => undefined) =>
  aiSdkModel(model, once).generate(REQUEST, { signal, onDelta });

describe("aiSdkModel", () => {
  it.each(["openai/gpt-5", "", "anthropic:claude"])("refuses the bare name %j, which would go to a gateway", (name) => {
    expect(() => aiSdkModel(name as unknown as AiSdkLanguageModel)).toThrow(
      expect.objectContaining({ code: "BELAY_MODEL_INVALID", message: expect.stringContaining("gateway") }),
    );
  });

  it.each([
    undefined,
    null,
    {},
    { specificationVersion: "v1", doGenerate() {}, doStream() {} },
    { specificationVersion: "v4" },
  ])("refuses %j, which is no model", (model) => {
    expect(() => aiSdkModel(model as unknown as AiSdkLanguageModel)).toThrow(
      expect.objectContaining({ code: "BELAY_MODEL_INVALID" }),
    );
  });

  it.each([{ attemptsMax: 0 }, { attemptsMax: 11 }, { delayMs: -1 }, { delayMaxMs: Number.NaN }])(
    "refuses the retry %j",
    (retry) => {
      expect(() => aiSdkModel(answering({}), { retry })).toThrow(
        expect.objectContaining({ code: "BELAY_MODEL_INVALID" }),
      );
    },
  );

  it("is called in the price table what it is called at the provider, or as it is told", () => {
    expect(aiSdkModel(new MockLanguageModelV4({ modelId: "m-1" })).id).toBe("m-1");
    expect(aiSdkModel(new MockLanguageModelV4({ modelId: "m-1" }), { id: "mine" }).id).toBe("mine");
  });

  it("hands on what is meant for the provider, and offers no tools when there are none", async () => {
    const model = new MockLanguageModelV4({
      doGenerate: { content: [{ type: "text", text: "Yes" }], finishReason: STOP, usage: USAGE, warnings: [] },
    });
    await generate(model, { providerOptions: { openai: { store: false } } });
    expect(model.doGenerateCalls[0]).toMatchObject({ providerOptions: { openai: { store: false } } });
    expect(model.doGenerateCalls[0]).not.toHaveProperty("tools");
    expect(model.doGenerateCalls[0]?.prompt.map(({ role }) => role)).toEqual(["user"]);
  });
});

describe("versions of the specification", () => {
  const content = [
    { type: "reasoning", text: "hm" },
    { type: "text", text: "One " },
    { type: "text", text: "two" },
    { type: "tool-call", toolCallId: "a", toolName: "t", input: "{}" },
  ];

  it("reads V4 and V3 with nested counts", async () => {
    const result = { content, finishReason: { unified: "tool-calls", raw: "x" }, usage: USAGE, warnings: [] } as never;
    for (const model of [
      new MockLanguageModelV4({ doGenerate: result }),
      new MockLanguageModelV3({ doGenerate: result }),
    ]) {
      expect(await generate(model)).toEqual({
        kind: "calls",
        text: "One two",
        calls: [{ tool: "t", args: { text: "{}" } }],
        usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 5, cacheWriteTokens: 1, reasoningTokens: 4 },
        providerData: {
          parts: [
            { type: "reasoning", text: "hm" },
            { type: "text", length: 4 },
            { type: "text", length: 3 },
            { type: "call", id: "a" },
          ],
        },
      });
    }
  });

  it("keeps nothing beside a reply that has no more than ids of what the provider keeps", async () => {
    const providerMetadata = { openai: { itemId: "fc_1" } };
    const plain = content.slice(1).map((part) => ({ ...part, providerMetadata }));
    const result = { content: plain, finishReason: { unified: "tool-calls", raw: "x" }, usage: USAGE, warnings: [] };
    expect(await generate(new MockLanguageModelV4({ doGenerate: result as never }))).not.toHaveProperty("providerData");
  });

  it("reads V2 with flat counts, where only some providers count the cache in", async () => {
    const usage = { inputTokens: 10, outputTokens: 7, totalTokens: 17, cachedInputTokens: 5 };
    const counts = async (provider: string) =>
      (await generate(v2({ content, finishReason: "tool-calls", usage }, provider))).usage?.inputTokens;
    expect(await counts("openai.chat")).toBe(10);
    expect(await counts("anthropic.messages")).toBe(15);
  });

  it("takes a V2 reply without a known reason for one that was cut", async () => {
    await expect(generate(v2({ content, finishReason: "unknown", usage: {} }), once)).rejects.toMatchObject({
      code: "BELAY_MODEL_UNAVAILABLE",
    });
  });
});

describe("counts that nobody made", () => {
  it.each([
    [undefined, {}],
    [{}, {}],
    [{ inputTokens: { total: undefined }, outputTokens: { total: undefined } }, {}],
    [{ inputTokens: { total: 0 }, outputTokens: { total: 0 } }, {}],
    [{ inputTokens: { total: -5 }, outputTokens: { total: Number.NaN } }, {}],
    [{ inputTokens: { total: 1.5 }, outputTokens: { total: "7" } }, {}],
    [
      { inputTokens: { noCache: 3, cacheRead: 2 }, outputTokens: { text: 4 } },
      { inputTokens: 5, outputTokens: 4, cacheReadTokens: 2 },
    ],
  ])("are left out: %j", async (usage, expected) => {
    const reply = await generate(answering({ content: [{ type: "text", text: "Yes" }], usage }));
    expect(reply.usage).toEqual(expected);
  });
});

describe("what a reply means", () => {
  const text = { type: "text", text: "Yes" };
  const call = { type: "tool-call", toolCallId: "a", toolName: "t", input: "{}" };

  it.each([
    ["stop", "stop", [text], "final"],
    ["stop", "STOP", [text, call], "calls"],
    ["tool-calls", "tool_calls", [call], "calls"],
    ["tool-calls", "tool_calls", [], "unreadable"],
    ["stop", "stop", [], "unreadable"],
    ["stop", "stop", [{ type: "text", text: " \n" }], "unreadable"],
    ["length", "length", [text, call], "unreadable"],
    ["content-filter", "content_filter", [text, call], "unreadable"],
    ["content-filter", "stop", [text], "final"],
    ["content-filter", "stop", [], "unreadable"],
    ["other", "compaction", [text, call], "unreadable"],
    ["error", "MALFORMED_FUNCTION_CALL", [call], "unreadable"],
  ])("%s (%s) with %j is %s", async (unified, raw, content, kind) => {
    const reply = await generate(answering({ content, finishReason: { unified, raw } }));
    expect(reply.kind).toBe(kind);
    expect(reply.kind === "calls").toBe("calls" in reply);
  });

  it.each([
    ["interrupted", "x", "BELAY_MODEL_UNAVAILABLE"],
    ["other", undefined, "BELAY_MODEL_UNAVAILABLE"],
    ["error", undefined, "BELAY_MODEL_BAD_REPLY"],
  ])("%s (%s) is a failed call", async (unified, raw, code) => {
    await expect(
      generate(answering({ content: [text, call], finishReason: { unified, raw } }), once),
    ).rejects.toMatchObject({ code });
  });

  it("takes arguments that are parsed already as they are", async () => {
    const content = [
      { ...call, input: { a: 1 } },
      { ...call, input: undefined, invalid: true },
    ];
    expect(await generate(answering({ content }))).toMatchObject({
      calls: [{ args: { json: { a: 1 } } }, { args: { json: undefined } }],
    });
  });

  it("refuses a reply in which the provider ran a tool itself", async () => {
    const content = [{ ...call, providerExecuted: true }, text];
    await expect(generate(answering({ content }))).rejects.toMatchObject({ code: "BELAY_MODEL_BAD_REPLY" });
  });

  it("refuses a reply without content, and one without end", async () => {
    await expect(generate(answering({ content: undefined }))).rejects.toMatchObject({ code: "BELAY_MODEL_BAD_REPLY" });
    const endless = Array.from({ length: 5 }, () => ({ type: "text-delta", id: "0", delta: "x".repeat(1_000_000) }));
    await expect(stream(streaming(endless))).rejects.toMatchObject({ code: "BELAY_MODEL_BAD_REPLY" });
    const input = Array.from({ length: 5 }, () => ({
      type: "tool-input-delta",
      id: "0",
      delta: "x".repeat(1_000_000),
    }));
    await expect(stream(streaming(input))).rejects.toMatchObject({ code: "BELAY_MODEL_BAD_REPLY" });
  });
});

describe("a stream", () => {
  const finish = { type: "finish", finishReason: STOP, usage: USAGE };
  const delta = { type: "text-delta", id: "0", delta: "Yes" };
  const call = { type: "tool-call", toolCallId: "a", toolName: "t", input: '{"a":' };

  it("is a failure without its end, whatever it has given", async () => {
    await expect(stream(streaming([delta, call]))).rejects.toMatchObject({ code: "BELAY_MODEL_UNAVAILABLE" });
  });

  it("is a failure when it says so, even when it ends as it should", async () => {
    await expect(
      stream(streaming([delta, { type: "error", error: new Error("sk-secret") }, finish])),
    ).rejects.toMatchObject({ code: "BELAY_MODEL_UNAVAILABLE", message: expect.not.stringContaining("sk-secret") });
  });

  it("passes on no empty pieces, and goes on when the listener fails", async () => {
    const heard: string[] = [];
    const reply = await stream(streaming([{ ...delta, delta: "" }, delta, delta, finish]), (text) => {
      heard.push(text);
      throw new Error("the listener is broken");
    });
    expect(heard).toEqual(["Yes", "Yes"]);
    expect(reply).toMatchObject({ kind: "final", text: "YesYes" });
  });
});
