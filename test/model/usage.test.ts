import { describe, expect, it } from "vitest";
import {
  checkPrices,
  costNanoUsd,
  estimateMessageTokens,
  estimatePromptTokens,
  estimateTokens,
  type ModelMessage,
  readUsage,
} from "../../src/model/index.ts";

describe("token estimates", () => {
  it("are a quarter of the length, rounded down", () => {
    expect([0, 3, 4, 7, 8].map((length) => estimateTokens("x".repeat(length)))).toEqual([0, 0, 1, 1, 2]);
  });

  it("count everything that the model reads", () => {
    const messages: readonly ModelMessage[] = [
      { role: "user", text: "1234" },
      { role: "assistant", text: "12", calls: [{ callId: "not counted", tool: "ab", args: { a: 1 } }] },
      { role: "tool", callId: "not counted", tool: "ab", text: "123456", isError: false },
      { role: "harness", text: "1234" },
    ];
    expect(messages.map(estimateMessageTokens)).toEqual([1, 2, 2, 1]);
    const tools = [{ name: "ab", description: "cd", inputSchema: { a: 1 } }];
    const request = { system: "123", messages, tools, replyTokensMax: 1, temperature: 0 };
    // 3 + 11 + 4 + 11 + 8 + 4 characters.
    expect(estimatePromptTokens(request)).toBe(10);
    expect(estimatePromptTokens(request)).toBe(10);
  });

  it("measure a message once", () => {
    let measured = 0;
    const args = { toJSON: () => ++measured } as never;
    const message: ModelMessage = { role: "assistant", text: "", calls: [{ callId: "c", tool: "t", args }] };
    for (let step = 0; step < 5; step += 1) {
      estimatePromptTokens({ system: "", messages: [message], tools: [], replyTokensMax: 1, temperature: 0 });
    }
    expect(measured).toBe(1);
  });
});

describe("readUsage", () => {
  const reservation = { inputTokens: 1000, outputTokens: 300 };

  it("takes what the provider reports", () => {
    expect(readUsage({ inputTokens: 12, outputTokens: 0 }, reservation)).toEqual({ inputTokens: 12, outputTokens: 0 });
  });

  it.each([undefined, Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 53, "12", null, 12n])(
    "charges the reservation for %s tokens",
    (bad) => {
      expect(readUsage({ inputTokens: bad as never, outputTokens: 5 }, reservation)).toEqual({
        inputTokens: 1000,
        outputTokens: 5,
        estimated: true,
      });
      expect(readUsage({ inputTokens: 5, outputTokens: bad as never }, reservation)).toEqual({
        inputTokens: 5,
        outputTokens: 300,
        estimated: true,
      });
    },
  );

  it("charges the reservation when nothing is reported", () => {
    const charged = { inputTokens: 1000, outputTokens: 300, estimated: true };
    expect(readUsage(undefined, reservation)).toEqual(charged);
    expect(readUsage({}, reservation)).toEqual(charged);
    expect(readUsage(null as never, reservation)).toEqual(charged);
  });
});

describe("prices", () => {
  const prices = { m: { inputUsdPerMillion: 0.1, outputUsdPerMillion: 0.4 } };

  it("are exact in nano-dollars and rounded up", () => {
    expect(costNanoUsd(prices, "m", { inputTokens: 3, outputTokens: 0 })).toBe(300);
    expect(costNanoUsd(prices, "m", { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBe(500_000_000);
    const odd = { m: { inputUsdPerMillion: 0.0001, outputUsdPerMillion: 0 } };
    expect(costNanoUsd(odd, "m", { inputTokens: 1, outputTokens: 0 })).toBe(1);
  });

  it("are unknown, not zero, for a model that is not listed", () => {
    expect(costNanoUsd(prices, "other", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
    expect(costNanoUsd(prices, "toString", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
  });

  it("are checked at start-up", () => {
    expect(checkPrices(prices)).toBeUndefined();
    expect(checkPrices({ free: { inputUsdPerMillion: 0, outputUsdPerMillion: 0 } })).toBeUndefined();
    for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY, "3", undefined, null]) {
      expect(() => checkPrices({ m: { inputUsdPerMillion: 1, outputUsdPerMillion: bad as never } })).toThrow(
        expect.objectContaining({
          code: "BELAY_PRICE_INVALID",
          message: expect.stringContaining("outputUsdPerMillion"),
        }),
      );
    }
    expect(() => checkPrices({ m: null as never })).toThrow(expect.objectContaining({ code: "BELAY_PRICE_INVALID" }));
  });
});
