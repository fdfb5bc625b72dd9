import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { describe, expect, it } from "vitest";
import { type BedrockOptions, bedrockModel } from "../../../src/adapters/bedrock/index.ts";
import { BelayError } from "../../../src/errors.ts";
import type { ModelReply, ModelRequest } from "../../../src/model/index.ts";
import { type Answers, converseAnswer, converseServer, DUMMY_SECRET, throttled } from "./converse-server.ts";

const NOVA = "amazon.nova-lite-v1:0";
const live = { modelId: NOVA, mode: "live", confirmSpend: true } as const;
const STOCK = {
  name: "get_stock",
  description: "Gets the stock of a SKU",
  inputSchema: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] },
};
const request: ModelRequest = {
  system: "You keep the stock.",
  messages: [{ role: "user", text: "How many kettles?" }],
  tools: [STOCK],
  replyTokensMax: 256,
  temperature: 0,
};
const { signal } = new AbortController();

async function setUp(answers: Answers, options: Partial<BedrockOptions> = {}) {
  const waits: number[] = [];
  const server = await converseServer(answers);
  const retry = {
    wait: async (delayMs: number) => void waits.push(delayMs),
    random: () => 0.5,
    ...options.retry,
  };
  const model = bedrockModel({ ...live, client: server.client, ...options, retry });
  return { ...server, waits, model };
}

async function errorOf(promise: Promise<unknown>): Promise<BelayError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BelayError);
  return error as BelayError;
}

describe("bedrockModel", () => {
  it("sends one request and gives the final answer with the service's usage", async () => {
    const { model, received } = await setUp([converseAnswer([{ text: "There are " }, { text: "4." }])]);
    const deltas: string[] = [];
    const reply = await model.generate(request, { signal, onDelta: (text) => deltas.push(text) });
    expect(reply).toEqual({ kind: "final", text: "There are 4.", usage: { inputTokens: 100, outputTokens: 10 } });
    expect(deltas).toEqual(["There are 4."]);
    expect(model.id).toBe(NOVA);
    expect(received).toEqual([
      {
        path: "/model/amazon.nova-lite-v1%3A0/converse",
        body: {
          messages: [{ role: "user", content: [{ text: "How many kettles?" }] }],
          system: [{ text: "You keep the stock." }, { cachePoint: { type: "default" } }],
          inferenceConfig: { maxTokens: 256, temperature: 0 },
          toolConfig: {
            tools: [
              {
                toolSpec: {
                  name: STOCK.name,
                  description: STOCK.description,
                  inputSchema: { json: STOCK.inputSchema },
                },
              },
            ],
          },
        },
      },
    ]);
  });

  it("gives the calls of a turn in the model's order", async () => {
    const { model } = await setUp([
      converseAnswer(
        [
          { text: "I look." },
          { toolUse: { toolUseId: "t1", name: "get_stock", input: { sku: "SKU-1001" } } },
          { toolUse: { toolUseId: "t2", name: "get_stock", input: { sku: "SKU-1002" } } },
        ],
        "tool_use",
      ),
    ]);
    expect(await model.generate(request, { signal })).toMatchObject({
      kind: "calls",
      text: "I look.",
      calls: [
        { tool: "get_stock", args: { json: { sku: "SKU-1001" } } },
        { tool: "get_stock", args: { json: { sku: "SKU-1002" } } },
      ],
    });
  });

  it.each<readonly [unknown, unknown]>([
    ["fifty", "fifty"],
    [[1], [1]],
    [null, null],
    [undefined, null],
  ])("passes the input %j on as data", async (input, json) => {
    const { model } = await setUp([
      converseAnswer([{ toolUse: { toolUseId: "t1", name: "get_stock", input } }], "tool_use"),
    ]);
    expect(await model.generate(request, { signal })).toMatchObject({ calls: [{ tool: "get_stock", args: { json } }] });
  });

  it("keeps reasoning beside the calls, in the order of the blocks", async () => {
    const { model } = await setUp([
      converseAnswer(
        [
          { reasoningContent: { reasoningText: { text: "hm", signature: "sig" } } },
          { reasoningContent: { redactedContent: "AQID" } },
          { text: "I look." },
          { toolUse: { toolUseId: "t1", name: "get_stock", input: {} } },
        ],
        "tool_use",
      ),
    ]);
    expect(await model.generate(request, { signal })).toMatchObject({
      kind: "calls",
      text: "I look.",
      providerData: {
        blocks: [
          { type: "reasoning", text: "hm", signature: "sig" },
          { type: "redacted", bytes: "AQID" },
          { type: "text", length: 7 },
          { type: "call" },
        ],
      },
    });
  });

  it("passes a call without a name on as one of no tool", async () => {
    const { model } = await setUp([converseAnswer([{ toolUse: { toolUseId: "t1", input: {} } }], "tool_use")]);
    expect(await model.generate(request, { signal })).toMatchObject({ calls: [{ tool: "", args: { json: {} } }] });
  });

  const call = { toolUse: { toolUseId: "t1", name: "get_stock", input: {} } };
  it.each<readonly [string, readonly unknown[], ModelReply]>([
    ["max_tokens", [{ text: "There a" }], { kind: "unreadable", problem: expect.stringContaining("256 tokens") }],
    ["max_tokens", [call], { kind: "unreadable", problem: expect.stringContaining("256 tokens") }],
    [
      "model_context_window_exceeded",
      [{ text: "x" }],
      { kind: "unreadable", problem: expect.stringContaining("context") },
    ],
    ["stop_sequence", [{ text: "4" }], { kind: "final", text: "4" }],
    ["guardrail_intervened", [{ text: "Sorry." }, call], { kind: "final", text: "Sorry." }],
    ["content_filtered", [call], { kind: "unreadable", problem: expect.stringContaining("withheld") }],
    ["malformed_tool_use", [call], { kind: "unreadable", problem: expect.stringContaining("JSON object") }],
    ["malformed_model_output", [], { kind: "unreadable", problem: expect.stringContaining("could not be read") }],
    ["a_new_reason", [call], { kind: "unreadable", problem: expect.stringContaining("could not be read") }],
    [
      "end_turn",
      [{ reasoningContent: { reasoningText: { text: "hm" } } }, { text: "4" }],
      { kind: "final", text: "4" },
    ],
    ["end_turn", [call], { kind: "calls", text: "", calls: [{ tool: "get_stock", args: { json: {} } }] }],
  ])("reads the stop reason %s", async (stopReason, content, expected) => {
    const { model } = await setUp([converseAnswer(content, stopReason)]);
    const { usage, ...reply } = await model.generate(request, { signal });
    expect(reply).toEqual(expected);
    expect(usage).toEqual({ inputTokens: 100, outputTokens: 10 });
  });

  it.each<readonly [unknown, unknown]>([
    [
      { inputTokens: 100, outputTokens: 10, totalTokens: 1610, cacheReadInputTokens: 1000, cacheWriteInputTokens: 500 },
      { inputTokens: 1600, outputTokens: 10, cacheReadTokens: 1000, cacheWriteTokens: 500 },
    ],
    [
      { inputTokens: 7, outputTokens: 1, cacheReadInputTokens: 0 },
      { inputTokens: 7, outputTokens: 1, cacheReadTokens: 0 },
    ],
    [{ outputTokens: 10 }, { outputTokens: 10 }],
    [{ inputTokens: 100 }, { inputTokens: 100 }],
    [undefined, undefined],
  ])("reads the usage %j, and leaves out what is not known", async (reported, usage) => {
    const answer = converseAnswer([{ text: "4" }], "end_turn", reported ?? null);
    const { model } = await setUp([answer]);
    expect((await model.generate(request, { signal })).usage).toEqual(usage);
  });
});

describe("bedrockModel, spending", () => {
  it.each<readonly [unknown, unknown]>([
    ["mock", true],
    ["live", false],
    ["live", "true"],
    ["LIVE", true],
    [undefined, undefined],
  ])("refuses the mode %j with the confirmation %j, and sends nothing", async (mode, confirmSpend) => {
    const { client, received } = await converseServer([]);
    const make = () => bedrockModel({ modelId: NOVA, client, mode, confirmSpend } as BedrockOptions);
    expect(make).toThrow(expect.objectContaining({ code: "BELAY_LIVE_NOT_CONFIRMED" }));
    expect(received).toEqual([]);
  });

  it.each<Partial<BedrockOptions>>([
    { modelId: "  " },
    {},
    { region: "" },
    { region: "us-east-1/../evil" },
    { region: "us-east-1", retry: { attemptsMax: 0 } },
    { region: "us-east-1", retry: { attemptsMax: 11 } },
    { region: "us-east-1", retry: { delayMs: -1 } },
    { region: "us-east-1", retry: { delayMaxMs: Number.NaN } },
  ])("refuses the options %j", (options) => {
    expect(() => bedrockModel({ ...live, ...options })).toThrow(
      expect.objectContaining({ code: "BELAY_MODEL_INVALID" }),
    );
  });

  it("makes a client of the region itself, without sending anything", () => {
    expect(bedrockModel({ ...live, region: "us-east-1" }).id).toBe(NOVA);
  });
});

describe("bedrockModel, failures", () => {
  const done = converseAnswer([{ text: "4" }]);

  it("tries again after throttling, with a growing delay", async () => {
    const { model, received, waits } = await setUp([throttled(), throttled(), done]);
    expect(await model.generate(request, { signal })).toMatchObject({ kind: "final", text: "4" });
    expect(received).toHaveLength(3);
    expect(received[2]).toEqual(received[0]);
    expect(waits).toEqual([250, 500]);
  });

  it.each<readonly [number, string]>([
    [503, "ServiceUnavailableException"],
    [500, "InternalServerException"],
    [429, "ModelNotReadyException"],
    [408, "ModelTimeoutException"],
    [502, "SomethingNew"],
  ])("tries again after %i %s", async (status, type) => {
    const { model, received } = await setUp([{ status, type, body: { message: "later" } }, done]);
    expect(await model.generate(request, { signal })).toMatchObject({ kind: "final" });
    expect(received).toHaveLength(2);
  });

  it("tries again after a page of a gateway that is no JSON", async () => {
    const { model } = await setUp([{ status: 502, body: "<html>Bad Gateway</html>" }, done]);
    expect(await model.generate(request, { signal })).toMatchObject({ kind: "final" });
  });

  it("waits as long as the service asks, by seconds or by date", async () => {
    const { model, waits } = await setUp([
      throttled({ "retry-after": "7" }),
      throttled({ "retry-after": new Date(Date.now() + 15_000).toUTCString() }),
      throttled({ "retry-after": "soon" }),
      done,
    ]);
    await model.generate(request, { signal });
    expect(waits[0]).toBe(7000);
    expect(waits[1]).toBeGreaterThan(10_000);
    expect(waits[1]).toBeLessThanOrEqual(15_000);
    expect(waits[2]).toBe(1000);
  });

  it("does not ask again when the wait would be too long", async () => {
    const { model, received } = await setUp([throttled({ "retry-after": "3600" }), done]);
    const error = await errorOf(model.generate(request, { signal }));
    expect(error.message).toContain("asks to wait 3600 s");
    expect(received).toHaveLength(1);
  });

  it("gives up after its last attempt, and never waits longer than its bound", async () => {
    const answers = Array.from({ length: 9 }, () => throttled());
    const { model, received, waits } = await setUp(answers, { retry: { attemptsMax: 6, delayMaxMs: 3000 } });
    const error = await errorOf(model.generate(request, { signal }));
    expect(error.code).toBe("BELAY_MODEL_THROTTLED");
    expect(error.message).toContain("ThrottlingException (HTTP 429, request request-6, 6 attempts)");
    expect(received).toHaveLength(6);
    expect(waits).toEqual([250, 500, 1000, 1500, 1500]);
  });

  it.each<readonly [number, string, string]>([
    [400, "ValidationException", "BELAY_MODEL_REFUSED"],
    [400, "ServiceQuotaExceededException", "BELAY_MODEL_THROTTLED"],
    [403, "AccessDeniedException", "BELAY_MODEL_AUTH"],
    [403, "SomethingNew", "BELAY_MODEL_AUTH"],
    [404, "ResourceNotFoundException", "BELAY_MODEL_REFUSED"],
    [424, "ModelErrorException", "BELAY_MODEL_REFUSED"],
  ])("does not try again after %i %s, and keeps the service's text to itself", async (status, type, code) => {
    const { model, received } = await setUp([{ status, type, body: { message: `bad ${DUMMY_SECRET} prompt` } }, done]);
    const error = await errorOf(model.generate(request, { signal }));
    expect(error.code).toBe(code);
    expect(error.message).toContain(`"${NOVA}": ${type} (HTTP ${status}, request request-1, 1 attempt)`);
    expect(error.cause).toBeUndefined();
    expect(`${error.message}${error.stack}${JSON.stringify(error)}`).not.toMatch(/dummy|prompt\b.*bad|bad .*prompt/i);
    expect(received).toHaveLength(1);
  });

  it.each([
    ["no JSON", "<html>hello</html>"],
    ["cut JSON", '{"output": {"message"'],
    ["no message", { stopReason: "end_turn" }],
    ["content that is no list", { output: { message: { role: "assistant", content: "4" } }, stopReason: "end_turn" }],
    ["null", "null"],
  ])("says that an answer with %s cannot be read", async (_, body) => {
    const { model, received } = await setUp([{ body }, done]);
    const error = await errorOf(model.generate(request, { signal }));
    expect(error.code).toBe("BELAY_MODEL_BAD_REPLY");
    expect(error.message).toContain("UnreadableAnswer");
    expect(error.message).not.toMatch(/html|output/);
    expect(received).toHaveLength(1);
  });

  it("tries again when nobody listens, and names the network", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    const client = new BedrockRuntimeClient({
      region: "us-east-1",
      endpoint: `http://127.0.0.1:${port}`,
      credentials: { accessKeyId: "DUMMYKEY", secretAccessKey: DUMMY_SECRET },
      maxAttempts: 1,
    });
    const { model, waits } = await setUp([], { client });
    const error = await errorOf(model.generate(request, { signal }));
    expect(error.code).toBe("BELAY_MODEL_UNAVAILABLE");
    expect(error.message).toContain("NetworkError (ECONNREFUSED, 4 attempts)");
    expect(error.message).not.toContain("127.0.0.1");
    expect(waits).toHaveLength(3);
    client.destroy();
  });

  it("does not try again after what is no matter of waiting, whatever was thrown", async () => {
    for (const [thrown, shown] of [
      [Object.assign(new Error(DUMMY_SECRET), { name: "CredentialsProviderError" }), "CredentialsProviderError"],
      [Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" }), "NetworkError (CERT_HAS_EXPIRED, 1 attempt)"],
      [Object.assign(new Error("x"), { name: `<b>${DUMMY_SECRET}` }), "UnknownError"],
      [DUMMY_SECRET, "UnknownError"],
      [undefined, "UnknownError"],
    ] as const) {
      const client = { send: () => Promise.reject(thrown) } as unknown as BedrockRuntimeClient;
      const { model, waits } = await setUp([], { client });
      const error = await errorOf(model.generate(request, { signal }));
      expect(error.message).toContain(shown);
      expect(error.message).not.toContain(DUMMY_SECRET);
      expect(waits).toEqual([]);
    }
  });

  it("ends a call that hangs when its signal aborts, with the reason of the signal", async () => {
    const { model, received, aborted } = await setUp(["hang", done]);
    const controller = new AbortController();
    const reply = model.generate(request, { signal: controller.signal });
    await expect.poll(() => received.length).toBe(1);
    controller.abort(new Error("timeout"));
    await expect(reply).rejects.toThrow("timeout");
    await aborted;
    expect(received).toHaveLength(1);
  });

  it("ends a wait when its signal aborts, and sends nothing afterwards", async () => {
    const { client, received } = await converseServer([throttled({ "retry-after": "19" }), done]);
    const model = bedrockModel({ ...live, client });
    const controller = new AbortController();
    const reply = model.generate(request, { signal: controller.signal });
    await expect.poll(() => received.length).toBe(1);
    controller.abort(new Error("cancelled"));
    await expect(reply).rejects.toThrow("cancelled");
    await expect(model.generate(request, { signal: controller.signal })).rejects.toThrow("cancelled");
    expect(received).toHaveLength(1);
  });
});
