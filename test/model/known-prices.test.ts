import { describe, expect, it } from "vitest";
import { checkPrices, costNanoUsd, KNOWN_PRICES, pricesFromEnv, UNPRICED_MODELS } from "../../src/model/index.ts";

const NOVA = "amazon.nova-lite-v1:0";
const CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const usage = { inputTokens: 1000, outputTokens: 100 };

describe("KNOWN_PRICES", () => {
  it("has the list prices of the Nova models", () => {
    expect(() => checkPrices(KNOWN_PRICES)).not.toThrow();
    expect(costNanoUsd(KNOWN_PRICES, "amazon.nova-micro-v1:0", usage)).toBe(35_000 + 14_000);
    expect(costNanoUsd(KNOWN_PRICES, NOVA, usage)).toBe(60_000 + 24_000);
    expect(costNanoUsd(KNOWN_PRICES, "amazon.nova-pro-v1:0", usage)).toBe(800_000 + 320_000);
  });

  it("has no price for the models that are unpriced on purpose, so their cost is unknown and not zero", () => {
    expect(UNPRICED_MODELS).toContain(CLAUDE);
    for (const modelId of [...UNPRICED_MODELS, "nobody.knows-v1", "toString"]) {
      expect(costNanoUsd(KNOWN_PRICES, modelId, usage)).toBeUndefined();
    }
  });
});

describe("pricesFromEnv", () => {
  it("adds nothing when nothing is stated", () => {
    for (const env of [{}, { AGENT_PRICE_INPUT_PER_1K: "", AGENT_PRICE_OUTPUT_PER_1K: " " }]) {
      expect(pricesFromEnv(env, CLAUDE)).toEqual(KNOWN_PRICES);
      expect(costNanoUsd(pricesFromEnv(env, CLAUDE), CLAUDE, usage)).toBeUndefined();
    }
  });

  it("states the price of one model, also in place of a known one, exactly as written", () => {
    const env = { AGENT_PRICE_INPUT_PER_1K: "0.00006", AGENT_PRICE_OUTPUT_PER_1K: " 0.0033 " };
    const price = { inputUsdPerMillion: 0.06, outputUsdPerMillion: 3.3 };
    expect(pricesFromEnv(env, CLAUDE)).toEqual({ ...KNOWN_PRICES, [CLAUDE]: price });
    expect(pricesFromEnv(env, NOVA)[NOVA]).toEqual(price);
    expect(Object.hasOwn(pricesFromEnv(env, "__proto__"), "__proto__")).toBe(true);
  });

  it("states the prices of the cache beside the others, and never alone", () => {
    const both = { AGENT_PRICE_INPUT_PER_1K: "3", AGENT_PRICE_OUTPUT_PER_1K: "15" };
    const cache = { AGENT_PRICE_CACHE_READ_PER_1K: "0.3", AGENT_PRICE_CACHE_WRITE_PER_1K: "3.75" };
    expect(pricesFromEnv({ ...both, ...cache }, "m")["m"]).toEqual({
      inputUsdPerMillion: 3000,
      outputUsdPerMillion: 15_000,
      cacheReadUsdPerMillion: 300,
      cacheWriteUsdPerMillion: 3750,
    });
    expect(() => pricesFromEnv(cache, "m")).toThrow(
      expect.objectContaining({
        code: "BELAY_PRICE_INVALID",
        message: expect.stringContaining("AGENT_PRICE_INPUT_PER_1K is not"),
      }),
    );
    expect(() => pricesFromEnv({ ...both, AGENT_PRICE_CACHE_READ_PER_1K: "-1" }, "m")).toThrow(/CACHE_READ/);
  });

  it("keeps the prices of agent and judge apart", () => {
    const env = {
      AGENT_PRICE_INPUT_PER_1K: "1",
      AGENT_PRICE_OUTPUT_PER_1K: "2",
      JUDGE_PRICE_INPUT_PER_1K: "3",
      JUDGE_PRICE_OUTPUT_PER_1K: "0",
    };
    expect(pricesFromEnv(env, "m")["m"]).toEqual({ inputUsdPerMillion: 1000, outputUsdPerMillion: 2000 });
    expect(pricesFromEnv(env, "m", "JUDGE")["m"]).toEqual({ inputUsdPerMillion: 3000, outputUsdPerMillion: 0 });
  });

  it.each([
    ["only the input", { AGENT_PRICE_INPUT_PER_1K: "1" }, "AGENT_PRICE_OUTPUT_PER_1K is not"],
    ["only the output", { AGENT_PRICE_OUTPUT_PER_1K: "1" }, "AGENT_PRICE_INPUT_PER_1K is not"],
    ["a negative number", { AGENT_PRICE_INPUT_PER_1K: "-1", AGENT_PRICE_OUTPUT_PER_1K: "1" }, '"-1"'],
    ["a currency", { AGENT_PRICE_INPUT_PER_1K: "1", AGENT_PRICE_OUTPUT_PER_1K: "$2" }, '"$2"'],
    ["a hexadecimal number", { AGENT_PRICE_INPUT_PER_1K: "0x10", AGENT_PRICE_OUTPUT_PER_1K: "1" }, '"0x10"'],
    ["no number", { AGENT_PRICE_INPUT_PER_1K: "NaN", AGENT_PRICE_OUTPUT_PER_1K: "1" }, '"NaN"'],
  ])("refuses %s", (_, env, message) => {
    expect(() => pricesFromEnv(env, CLAUDE)).toThrow(
      expect.objectContaining({ code: "BELAY_PRICE_INVALID", message: expect.stringContaining(message) }),
    );
  });
});
