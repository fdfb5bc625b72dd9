import { printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { Price, PriceTable } from "./prices.ts";

/**
 * Public list prices, on demand in us-east-1, in US dollars per million tokens.
 *
 * Only what is certain is listed: no price is guessed. `belay prices fetch` reads today's.
 * Source: Amazon Bedrock pricing page and the AWS price list, offer `AmazonBedrock`.
 */
export const KNOWN_PRICES: PriceTable = {
  "amazon.nova-micro-v1:0": { inputUsdPerMillion: 0.035, outputUsdPerMillion: 0.14 },
  "amazon.nova-lite-v1:0": { inputUsdPerMillion: 0.06, outputUsdPerMillion: 0.24 },
  "amazon.nova-pro-v1:0": { inputUsdPerMillion: 0.8, outputUsdPerMillion: 3.2 },
};

/**
 * Models in common use that have no price here on purpose: their cost is unknown until somebody states it.
 *
 * Their prices differ by profile and are sold in an offer of their own, which the AWS price list names differently.
 */
export const UNPRICED_MODELS: readonly string[] = [
  "anthropic.claude-3-5-haiku-20241022-v1:0",
  "anthropic.claude-3-7-sonnet-20250219-v1:0",
  "anthropic.claude-haiku-4-5-20251001-v1:0",
  "anthropic.claude-sonnet-4-20250514-v1:0",
  "anthropic.claude-sonnet-4-5-20250929-v1:0",
];

/** Whose model is meant: `AGENT_PRICE_INPUT_PER_1K` and `AGENT_PRICE_OUTPUT_PER_1K`, or the same of the judge. */
export type PriceRole = "AGENT" | "JUDGE";

/**
 * The known prices, with that of one model as the environment states it in US dollars per 1,000 tokens.
 *
 * Without both variables nothing is added, and a model that is not known keeps an unknown price. Those of the cache,
 * `…_PRICE_CACHE_READ_PER_1K` and `…_PRICE_CACHE_WRITE_PER_1K`, may be left out. Throws `BELAY_PRICE_INVALID` when one of
 * the first two is missing beside others, or one is no number from 0.
 */
export function pricesFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  modelId: string,
  role: PriceRole = "AGENT",
): PriceTable {
  const names = ["INPUT", "OUTPUT", "CACHE_READ", "CACHE_WRITE"].map((of) => `${role}_PRICE_${of}_PER_1K`);
  const [input, output, cacheRead, cacheWrite] = names.map((name) => readPerThousand(name, env[name]));
  const set = names.filter((name) => (env[name]?.trim() ?? "") !== "");
  if (set.length === 0) {
    return KNOWN_PRICES;
  }
  if (input === undefined || output === undefined) {
    throw new BelayError(
      "BELAY_PRICE_INVALID",
      `${set.join(", ")} is set and ${names[input === undefined ? 0 : 1]} is not, so a part of each call would have no ` +
        "price. Set those of input and output, or none.",
    );
  }
  const stated: Price = {
    inputUsdPerMillion: input,
    outputUsdPerMillion: output,
    ...(cacheRead !== undefined && { cacheReadUsdPerMillion: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteUsdPerMillion: cacheWrite }),
  };
  return Object.fromEntries([...Object.entries(KNOWN_PRICES), [modelId, stated]]);
}

function readPerThousand(name: string, text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  if (trimmed === "") {
    return undefined;
  }
  if (!/^[0-9]{1,9}(?:\.[0-9]{1,15})?$/.test(trimmed)) {
    throw new BelayError(
      "BELAY_PRICE_INVALID",
      `${name} is ${JSON.stringify(printable(trimmed))}. Give US dollars per 1,000 tokens, such as 0.00006.`,
    );
  }
  return perMillion(Number(trimmed), 1000);
}

/** 0.00006 times 1,000 is a little less than 0.06 in binary, and a price is what was printed. */
export function perMillion(usd: number, tokens: number): number {
  return Number(((usd * 1_000_000) / tokens).toPrecision(12));
}
