import { BelayError } from "../errors.ts";
import { perMillion } from "./known-prices.ts";
import type { Price, PriceTable } from "./prices.ts";

/** Models whose usage types are known. Batch, custom and cross-region usage has other names and other prices. */
const MODELS: Readonly<Record<string, string>> = {
  NovaMicro: "amazon.nova-micro-v1:0",
  NovaLite: "amazon.nova-lite-v1:0",
  NovaPro: "amazon.nova-pro-v1:0",
  NovaPremier: "amazon.nova-premier-v1:0",
};

const USAGE_TYPE = /^(?:[A-Z0-9]{1,8}-)?(Nova[A-Za-z]{1,12})-(input|output)-tokens$/;
const TOKENS_OF_UNIT: Readonly<Record<string, number>> = { "1K tokens": 1000, "1M tokens": 1_000_000 };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Where the public price list of a region is.
 *
 * Source: AWS Price List bulk files, offer `AmazonBedrock`; they need no account.
 */
export function priceFeedUrl(region: string): string {
  return `https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/current/${region}/index.json`;
}

/**
 * Reads on-demand prices of known models out of a price list.
 *
 * A model with only one of its two prices, with two different ones, or with one of zero is left out: its price is
 * unknown. Throws `BELAY_PRICE_FEED` when none is left.
 */
export function readPriceFeed(feed: unknown): PriceTable {
  const { products, terms } = fields(feed);
  const onDemand = fields(fields(terms)["OnDemand"]);
  const meters = new Map<string, Set<number | undefined>>();
  for (const [sku, product] of Object.entries(fields(products))) {
    const [, name, side] = USAGE_TYPE.exec(String(fields(fields(product)["attributes"])["usagetype"])) ?? [];
    const modelId = name === undefined || !Object.hasOwn(MODELS, name) ? undefined : MODELS[name];
    if (modelId !== undefined) {
      const meter = `${modelId} ${side}`;
      const found = meters.get(meter) ?? new Set();
      meters.set(meter, found);
      for (const price of pricesOf(onDemand[sku])) found.add(price);
    }
  }
  const prices = Object.values(MODELS).flatMap((modelId): [string, Price][] => {
    const inputUsdPerMillion = onlyPrice(meters.get(`${modelId} input`));
    const outputUsdPerMillion = onlyPrice(meters.get(`${modelId} output`));
    return inputUsdPerMillion === undefined || outputUsdPerMillion === undefined
      ? []
      : [[modelId, { inputUsdPerMillion, outputUsdPerMillion }]];
  });
  if (prices.length === 0) {
    throw new BelayError(
      "BELAY_PRICE_FEED",
      "The price list has no on-demand token price of a model that Belay knows. Try another --region, or state the " +
        "price with AGENT_PRICE_INPUT_PER_1K and AGENT_PRICE_OUTPUT_PER_1K.",
    );
  }
  return Object.fromEntries(prices);
}

/** Every price of one product; nothing in place of one that cannot be read. */
function pricesOf(offers: unknown): readonly (number | undefined)[] {
  return Object.values(fields(offers))
    .flatMap((offer) => Object.values(fields(fields(offer)["priceDimensions"])))
    .map((dimension) => {
      const { unit, pricePerUnit } = fields(dimension);
      const usd = fields(pricePerUnit)["USD"];
      const tokens = typeof unit === "string" && Object.hasOwn(TOKENS_OF_UNIT, unit) ? TOKENS_OF_UNIT[unit] : undefined;
      const isNumber = typeof usd === "string" && /^[0-9]{1,9}(?:\.[0-9]{1,20})?$/.test(usd);
      return tokens !== undefined && isNumber ? perMillion(Number(usd), tokens) : undefined;
    });
}

function onlyPrice(found: ReadonlySet<number | undefined> | undefined): number | undefined {
  const [price] = found ?? [];
  return found?.size === 1 && price !== 0 ? price : undefined;
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
