/** One product of a price list: its usage type, and each of its prices with the unit. */
export type SampleProduct = readonly [usageType: string, ...prices: readonly (readonly [usd: string, unit: string])[]];

/** A price list in the form of the public one. */
export function samplePriceFeed(products: readonly SampleProduct[]) {
  return {
    formatVersion: "v1.0",
    offerCode: "AmazonBedrock",
    products: Object.fromEntries(
      products.map(([usagetype], at) => [
        `SKU${at}`,
        { sku: `SKU${at}`, productFamily: "Amazon Bedrock", attributes: { regionCode: "us-east-1", usagetype } },
      ]),
    ),
    terms: {
      OnDemand: Object.fromEntries(
        products.map(([, ...prices], at) => [
          `SKU${at}`,
          {
            [`SKU${at}.TERM`]: {
              priceDimensions: Object.fromEntries(
                prices.map(([usd, unit], dimension) => [
                  `SKU${at}.TERM.${dimension}`,
                  { unit, beginRange: "0", endRange: "Inf", pricePerUnit: { USD: usd } },
                ]),
              ),
            },
          },
        ]),
      ),
    },
  };
}

export const SAMPLE_PRODUCTS: readonly SampleProduct[] = [
  ["USE1-NovaMicro-input-tokens", ["0.0000350000", "1K tokens"]],
  ["USE1-NovaMicro-output-tokens", ["0.0001400000", "1K tokens"]],
  ["USE1-NovaLite-input-tokens", ["0.0000600000", "1K tokens"]],
  ["USE1-NovaLite-output-tokens", ["0.0002400000", "1K tokens"]],
  ["USE1-NovaLite-input-tokens-batch", ["0.0000300000", "1K tokens"]],
  ["USE1-NovaLite-input-tokens-custom-model", ["0.0000700000", "1K tokens"]],
  ["USE1-NovaLite-cache-read-input-token-count", ["0.0000150000", "1K tokens"]],
  ["USE1-NovaPro-input-tokens", ["0.8", "1M tokens"]],
  ["USE1-NovaPro-output-tokens", ["3.2", "1M tokens"]],
  ["USE1-NovaCanvas-T2I-1024-Standard", ["0.04", "image"]],
];
