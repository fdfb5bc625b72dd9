import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AiSdkReport, aiSdkModel } from "../../../src/adapters/ai-sdk/index.ts";
import { createHarness, defineAgent, defineTool, type ModelRequest } from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import {
  ANTHROPIC,
  answerOf,
  asking,
  CALLS,
  GOOGLE,
  once,
  REQUEST,
  startWireServer,
  TEXT,
  WIRE_FORMATS,
  type WireAnswer,
} from "./wire/index.ts";

const parsed = (reply: unknown) =>
  JSON.parse(JSON.stringify(reply), (key, value) =>
    key === "args" && "text" in value ? JSON.parse(value.text) : value,
  );

describe.each(WIRE_FORMATS)("$name", (format) => {
  describe.each([false, true])("streaming: %s", (isStreaming) => {
    it("gives a text with its usage, cached input counted in", async () => {
      let report: AiSdkReport | undefined;
      const { reply, deltas } = await asking(format, [answerOf(format, { text: TEXT }, isStreaming)], {
        isStreaming,
        onReport: (told) => {
          report = told;
        },
      });
      expect(reply).toMatchObject({
        kind: "final",
        text: TEXT,
        usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 40 },
      });
      expect(deltas.join("")).toBe(isStreaming ? TEXT : "");
      expect(deltas.length).toBe(isStreaming ? 2 : 0);
      expect(report).toMatchObject({ attempts: 1, finishReason: { unified: "stop" }, usage: { cacheReadTokens: 40 } });
    });

    it("gives parallel calls in their order, beside the text", async () => {
      const { reply } = await asking(format, [answerOf(format, { text: "One moment", calls: CALLS }, isStreaming)], {
        isStreaming,
      });
      expect(parsed(reply)).toMatchObject({
        kind: "calls",
        text: "One moment",
        calls: CALLS.map(({ name, args }) => ({ tool: name, args: JSON.parse(args) })),
      });
    });

    it("takes neither text nor calls of a reply that was cut at its limit", async () => {
      for (const reply of [{ text: TEXT }, { text: TEXT, calls: CALLS }]) {
        const cut = answerOf(format, { ...reply, finish: "length" }, isStreaming);
        expect((await asking(format, [cut], { isStreaming })).reply).toMatchObject({
          kind: "unreadable",
          problem: expect.stringContaining("321"),
          usage: { inputTokens: 100 },
        });
      }
    });

    it("takes nothing of a reply that the provider withheld", async () => {
      const { reply } = await asking(format, [answerOf(format, { text: TEXT, finish: "filter" }, isStreaming)], {
        isStreaming,
      });
      expect(reply).toMatchObject({ kind: "unreadable", usage: { outputTokens: 20 } });
    });

    it("tries again after 429 and 5xx, and not sooner than it is asked to", async () => {
      const waits: number[] = [];
      const failing = (status: number, headers: Record<string, string> = {}): WireAnswer => ({
        kind: "json",
        status,
        headers,
        body: format.error("later"),
      });
      const { reply, requests } = await asking(
        format,
        [
          failing(429, { "retry-after": "7" }),
          failing(500),
          failing(503),
          answerOf(format, { text: TEXT }, isStreaming),
        ],
        { isStreaming, retry: { random: () => 0.5, wait: async (delayMs) => void waits.push(delayMs) } },
      );
      expect(reply).toMatchObject({ kind: "final", text: TEXT });
      expect(requests.length).toBe(4);
      expect(waits).toEqual([7000, 500, 1000]);
    });

    it.each([
      [429, 4, "BELAY_MODEL_THROTTLED"],
      [503, 4, "BELAY_MODEL_UNAVAILABLE"],
      [401, 1, "BELAY_MODEL_AUTH"],
      [403, 1, "BELAY_MODEL_AUTH"],
      [400, 1, "BELAY_MODEL_REFUSED"],
      [404, 1, "BELAY_MODEL_REFUSED"],
    ])("gives up on %i after %i requests, without the provider's words", async (status, count, code) => {
      const { error, requests } = await asking(
        format,
        [{ kind: "json", status, headers: { "x-request-id": "req_1" }, body: format.error("key sk-secret is bad") }],
        { isStreaming },
      );
      expect(requests.length).toBe(count);
      expect(error).toMatchObject({ name: "BelayError", code, message: expect.stringContaining(`HTTP ${status}`) });
      expect(error).toMatchObject({ message: expect.stringContaining("request req_1") });
      expect(Object.getOwnPropertyNames(error).sort()).toEqual(["code", "message", "name", "stack"]);
      expect(String((error as Error).stack)).not.toContain("sk-secret");
    });

    it("does not ask again when it is told to wait too long", async () => {
      const { error, requests } = await asking(
        format,
        [{ kind: "json", status: 429, headers: { "retry-after": "3600" }, body: format.error("later") }],
        { isStreaming },
      );
      expect(requests.length).toBe(1);
      expect(error).toMatchObject({ code: "BELAY_MODEL_THROTTLED", message: expect.stringContaining("3600 s") });
    });

    it("tries again when the connection breaks before an answer", async () => {
      const { reply, requests } = await asking(
        format,
        [{ kind: "destroy" }, answerOf(format, { text: TEXT }, isStreaming)],
        { isStreaming },
      );
      expect(reply).toMatchObject({ kind: "final", text: TEXT });
      expect(requests.length).toBe(2);
    });

    it("fails on an answer that is not what it should be", async () => {
      const { error } = await asking(format, [{ kind: "json", body: "<html>" }], { isStreaming, retry: once });
      expect(error).toMatchObject({ code: expect.stringMatching(/^BELAY_MODEL_(BAD_REPLY|UNAVAILABLE)$/) });
    });

    it("writes what happened before into the request", async () => {
      const { requests } = await asking(format, [answerOf(format, { text: TEXT }, isStreaming)], {
        isStreaming,
        request: { ...REQUEST, messages: HISTORY },
      });
      expect(requests[0]?.body).toMatchSnapshot();
    });
  });

  it("carries a run through a call to its answer", async () => {
    await using server = await startWireServer([
      answerOf(format, { calls: CALLS.slice(1) }, true),
      answerOf(format, { text: TEXT }, true),
    ]);
    const seen: string[] = [];
    const agent = defineAgent({
      name: "desk",
      revision: "1",
      instructions: "You help.",
      tools: [
        defineTool({
          name: "lookup",
          description: "Looks up",
          level: "read",
          recovery: "read",
          input: z.strictObject({ id: z.string() }),
          execute: ({ id }) => {
            seen.push(id);
            return { status: "sent" };
          },
        }),
      ],
      rules: [],
    });
    const harness = createHarness({ agent, model: aiSdkModel(format.model(server.url)), store: createMemoryStore() });
    const result = await harness.run("Where is O-2?", { onDelta: () => undefined }).result;
    expect(seen).toEqual(["O-2"]);
    expect(result.state).toMatchObject({ termination: { kind: "completed" } });
    expect(JSON.stringify(server.requests[1]?.body)).toContain("sent");
  });
});

const HISTORY: ModelRequest["messages"] = [
  { role: "user", text: "Where are O-1 and O-2?" },
  {
    role: "assistant",
    text: "I look.",
    calls: [
      { callId: "c1.1", tool: "lookup", args: { id: "O-1" } },
      { callId: "c1.2", tool: "look up\\u{e9}", args: null },
    ],
  },
  { role: "tool", callId: "c1.1", tool: "lookup", text: '{"status":"sent"}', isError: false },
  { role: "tool", callId: "c1.2", tool: "look up\\u{e9}", text: "unknown tool", isError: true },
  { role: "harness", text: "Please answer." },
];

describe("what a format has and others have not", () => {
  const withText = WIRE_FORMATS.filter((format) => format.hasTextArguments);

  it.each(withText.flatMap((format) => [[format, true] as const, [format, false] as const]))(
    "hands on arguments that are no JSON as they are: $name",
    async (format, isStreaming) => {
      for (const args of ['{"id": "O-1"', "not json", '{"id":"a","id":"b"}']) {
        const answer = answerOf(format, { calls: [{ id: "a1", name: "lookup", args }] }, isStreaming);
        const { reply } = await asking(format, [answer], { isStreaming });
        expect(reply).toMatchObject({ kind: "calls", calls: [{ tool: "lookup", args: { text: args } }] });
      }
    },
  );

  it("hands on arguments that are no JSON from Anthropic's stream", async () => {
    const events = ANTHROPIC.events({ calls: [{ id: "a1", name: "lookup", args: '{"id": "O-1"' }] });
    const { reply } = await asking(ANTHROPIC, [{ kind: "events", events }], { isStreaming: true });
    expect(reply).toMatchObject({ kind: "calls", calls: [{ tool: "lookup", args: { text: '{"id": "O-1"' } }] });
  });

  it("tells the model of a call that Google could not read", async () => {
    const body = {
      candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "MALFORMED_FUNCTION_CALL" }],
    };
    const { reply } = await asking(GOOGLE, [{ kind: "json", body }]);
    expect(reply).toMatchObject({ kind: "unreadable", problem: expect.stringContaining("MALFORMED_FUNCTION_CALL") });
  });

  it.each(withText.flatMap((format) => [[format, true] as const, [format, false] as const]))(
    "takes a model's own words of refusal for its answer: $name",
    async (format, isStreaming) => {
      const { reply } = await asking(format, [answerOf(format, { refusal: "I cannot help." }, isStreaming)], {
        isStreaming,
      });
      expect(reply).toMatchObject({ kind: "final", text: "I cannot help." });
    },
  );

  it("tries again when Anthropic is overloaded at the start of a stream", async () => {
    const overloaded = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
    const { reply, requests } = await asking(
      ANTHROPIC,
      [{ kind: "events", events: [overloaded] }, answerOf(ANTHROPIC, { text: TEXT }, true)],
      { isStreaming: true },
    );
    expect(reply).toMatchObject({ kind: "final", text: TEXT });
    expect(requests.length).toBe(2);
  });
});
