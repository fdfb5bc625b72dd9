import { describe, expect, it } from "vitest";
import { type ModelReply, type ModelRequest, scriptedModel, scriptedTextModel } from "../../src/model/index.ts";

const request: ModelRequest = {
  system: "1234",
  messages: [{ role: "user", text: "12345678" }],
  tools: [],
  replyTokensMax: 10,
  temperature: 0,
};
const signal = new AbortController().signal;

describe("scriptedModel", () => {
  it("gives its replies in order, and knows what it was asked", async () => {
    const replies: readonly ModelReply[] = [
      { kind: "calls", text: "", calls: [{ tool: "abcd", args: { text: "{ab}" } }] },
      { kind: "final", text: "12345678" },
    ];
    const model = scriptedModel(replies);
    expect(model.id).toBe("scripted");
    expect(() => model.assertConsumed()).toThrow(expect.objectContaining({ code: "BELAY_SCRIPT_LEFT_OVER" }));
    expect(await model.generate(request, { signal })).toEqual({
      ...replies[0],
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(await model.generate(request, { signal })).toEqual({
      ...replies[1],
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    expect(model.requests).toEqual([request, request]);
    expect(model.assertConsumed()).toBeUndefined();
  });

  it("fails when it is asked too often, and still counts that", async () => {
    const model = scriptedModel([]);
    await expect(model.generate(request, { signal })).rejects.toMatchObject({ code: "BELAY_SCRIPT_EXHAUSTED" });
    expect(model.requests).toHaveLength(1);
  });

  it("keeps the usage that a reply has, and streams its text", async () => {
    const pieces: string[] = [];
    const usage = { inputTokens: 100, outputTokens: 10 };
    const model = scriptedModel([{ kind: "final", text: "hi", usage }], { id: "m" });
    expect(await model.generate(request, { signal, onDelta: (text) => pieces.push(text) })).toMatchObject({ usage });
    expect(pieces).toEqual(["hi"]);
  });

  it("does not use a reply up for a request that is aborted", async () => {
    const model = scriptedModel([{ kind: "final", text: "hi" }]);
    await expect(model.generate(request, { signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
    expect(model.requests).toHaveLength(0);
    expect(await model.generate(request, { signal })).toMatchObject({ text: "hi" });
  });
});

describe("scriptedTextModel", () => {
  it("gives texts with estimated usage", async () => {
    const model = scriptedTextModel(["12345678"]);
    const asked = {
      system: "1234",
      messages: [{ role: "user", text: "1234" }],
      replyTokensMax: 1,
      temperature: 0,
    } as const;
    expect(await model.complete(asked, { signal })).toEqual({
      text: "12345678",
      usage: { inputTokens: 2, outputTokens: 2 },
    });
    expect(model.requests).toEqual([asked]);
    await expect(model.complete(asked, { signal })).rejects.toMatchObject({ code: "BELAY_SCRIPT_EXHAUSTED" });
  });
});
