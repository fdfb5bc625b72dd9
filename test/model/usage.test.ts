import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkPrices,
  costNanoUsd,
  estimateMessageTokens,
  estimatePromptTokens,
  estimateTokens,
  highestCostNanoUsd,
  type ModelMessage,
  type Price,
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

  it("takes the counts of the cache, and drops those that are none", () => {
    const read = (cache: object) => readUsage({ inputTokens: 100, outputTokens: 5, ...cache } as never, reservation);
    expect(read({ cacheReadTokens: 60, cacheWriteTokens: 40 })).toEqual({
      inputTokens: 100,
      outputTokens: 5,
      cacheReadTokens: 60,
      cacheWriteTokens: 40,
    });
    for (const bad of [0, -1, 1.5, Number.NaN, "60", null]) {
      expect(read({ cacheReadTokens: bad, cacheWriteTokens: bad })).toEqual({ inputTokens: 100, outputTokens: 5 });
    }
  });

  it("adds a cache that is larger than the input, because it was counted beside it", () => {
    const usage = { inputTokens: 3, outputTokens: 5, cacheReadTokens: 1000 };
    expect(readUsage(usage, reservation)).toEqual({ ...usage, inputTokens: 1003 });
  });

  it("charges the whole reservation when the input was not counted, whatever the cache says", () => {
    expect(readUsage({ outputTokens: 5, cacheReadTokens: 10 }, reservation)).toEqual({
      inputTokens: 1000,
      outputTokens: 5,
      estimated: true,
    });
  });

  it("charges the reservation when nothing is reported", () => {
    const charged = { inputTokens: 1000, outputTokens: 300, estimated: true };
    expect(readUsage(undefined, reservation)).toEqual(charged);
    expect(readUsage({}, reservation)).toEqual(charged);
    expect(readUsage(null as never, reservation)).toEqual(charged);
  });
});

const CACHE_PRICES = ["cacheReadUsdPerMillion", "cacheWriteUsdPerMillion"] as const;

describe("prices", () => {
  const prices = { m: { inputUsdPerMillion: 0.1, outputUsdPerMillion: 0.4 } };

  it("are exact in nano-dollars and rounded up", () => {
    expect(costNanoUsd(prices, "m", { inputTokens: 3, outputTokens: 0 })).toBe(300);
    expect(costNanoUsd(prices, "m", { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBe(500_000_000);
    const odd = { m: { inputUsdPerMillion: 0.0001, outputUsdPerMillion: 0 } };
    expect(costNanoUsd(odd, "m", { inputTokens: 1, outputTokens: 0 })).toBe(1);
  });

  it("count what the cache had at its own price, and at the full price where it has none", () => {
    const plain = { inputUsdPerMillion: 3, outputUsdPerMillion: 15 };
    const cost = (price: Price) =>
      costNanoUsd({ m: price }, "m", { inputTokens: 100, outputTokens: 0, cacheReadTokens: 60, cacheWriteTokens: 30 });
    expect(cost(plain)).toBe(300_000);
    expect(cost({ ...plain, cacheReadUsdPerMillion: 0.3 })).toBe((40 * 3 + 60 * 0.3) * 1000);
    expect(cost({ ...plain, cacheWriteUsdPerMillion: 3.75 })).toBe((70 * 3 + 30 * 3.75) * 1000);
    expect(cost({ ...plain, cacheReadUsdPerMillion: 0, cacheWriteUsdPerMillion: 0 })).toBe(30_000);
  });

  it("are reserved at the dearest that can happen, which no usage exceeds", () => {
    const price = fc.record({
      inputUsdPerMillion: fc.nat(50),
      outputUsdPerMillion: fc.nat(50),
      cacheReadUsdPerMillion: fc.nat(50),
      cacheWriteUsdPerMillion: fc.nat(50),
    });
    const tokens = fc.record({
      plain: fc.nat(1000),
      read: fc.nat(1000),
      written: fc.nat(1000),
      outputTokens: fc.nat(1000),
    });
    fc.assert(
      fc.property(price, tokens, fc.subarray([...CACHE_PRICES]), (m, { plain, read, written, outputTokens }, left) => {
        const known = Object.fromEntries(Object.entries(m).filter(([name]) => !left.includes(name as never))) as never;
        const inputTokens = plain + read + written;
        const usage = { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: written };
        const cost = costNanoUsd({ m: known }, "m", usage) ?? Number.NaN;
        expect(cost).toBeLessThanOrEqual(highestCostNanoUsd({ m: known }, "m", { inputTokens, outputTokens }) ?? 0);
        expect(cost).toBeGreaterThanOrEqual(plain * m.inputUsdPerMillion * 1000);
      }),
    );
    expect(highestCostNanoUsd({}, "m", { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
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
    expect(checkPrices({ m: { ...prices.m, cacheReadUsdPerMillion: 0, cacheWriteUsdPerMillion: 1 } })).toBeUndefined();
    for (const field of CACHE_PRICES) {
      for (const bad of [-1, Number.NaN, "3", null]) {
        expect(() => checkPrices({ m: { ...prices.m, [field]: bad as never } })).toThrow(
          expect.objectContaining({ code: "BELAY_PRICE_INVALID", message: expect.stringContaining(field) }),
        );
      }
    }
    expect(() => checkPrices({ m: null as never })).toThrow(expect.objectContaining({ code: "BELAY_PRICE_INVALID" }));
  });
});
