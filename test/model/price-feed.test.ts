import { describe, expect, it } from "vitest";
import { KNOWN_PRICES, priceFeedUrl, readPriceFeed } from "../../src/model/index.ts";
import { SAMPLE_PRODUCTS, type SampleProduct, samplePriceFeed } from "./sample-price-feed.ts";

const NOVA = "amazon.nova-lite-v1:0";
const read = (...products: readonly SampleProduct[]) =>
  readPriceFeed(samplePriceFeed([...SAMPLE_PRODUCTS, ...products]));

describe("readPriceFeed", () => {
  it("reads on-demand prices in either unit, and no price of other usage", () => {
    expect(read()).toEqual(KNOWN_PRICES);
  });

  it("takes a price that is there twice, and none that is there in two versions", () => {
    expect(read(["NovaLite-input-tokens", ["0.00006", "1K tokens"]])[NOVA]).toEqual(KNOWN_PRICES[NOVA]);
    expect(read(["NovaLite-input-tokens", ["0.00009", "1K tokens"]])).not.toHaveProperty([NOVA]);
    expect(read(["NovaLite-input-tokens", ["0.00006", "1K tokens"], ["0.00001", "1K tokens"]])).not.toHaveProperty([
      NOVA,
    ]);
  });

  it.each<{ readonly product: SampleProduct }>([
    { product: ["USE1-NovaPremier-input-tokens", ["0.0025", "1K tokens"]] },
    { product: ["USE1-NovaLite-input-tokens", ["0", "Hour"]] },
    { product: ["USE1-NovaLite-input-tokens", ["cheap", "1K tokens"]] },
    { product: ["USE1-NovaLite-input-tokens", ["-1", "1K tokens"]] },
  ])("leaves a model out whose prices are not certain: $product", ({ product }) => {
    const prices = read(product);
    expect(prices).not.toHaveProperty(["amazon.nova-premier-v1:0"]);
    expect(Object.hasOwn(prices, NOVA)).toBe(product[0] === "USE1-NovaPremier-input-tokens");
  });

  it("takes a price of zero for an unknown one", () => {
    const feed = samplePriceFeed([
      ["USE1-NovaPro-input-tokens", ["0.8", "1M tokens"]],
      ["USE1-NovaPro-output-tokens", ["0.0000000000", "1M tokens"]],
      ...SAMPLE_PRODUCTS.filter(([usageType]) => usageType.includes("NovaMicro")),
    ]);
    expect(Object.keys(readPriceFeed(feed))).toEqual(["amazon.nova-micro-v1:0"]);
  });

  it.each([
    null,
    "text",
    [],
    {},
    { products: 1, terms: [] },
    { products: { a: null }, terms: { OnDemand: null } },
    samplePriceFeed([]),
  ])("refuses %j, which has no price at all", (feed) => {
    expect(() => readPriceFeed(feed)).toThrow(expect.objectContaining({ code: "BELAY_PRICE_FEED" }));
  });

  it("knows where the list of a region is", () => {
    expect(priceFeedUrl("eu-central-1")).toBe(
      "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/current/eu-central-1/index.json",
    );
  });
});
