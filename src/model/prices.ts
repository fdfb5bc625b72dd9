import { printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";

/** US dollars per million tokens. */
export interface Price {
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
  /** For input that the provider read from its cache. Default the full price of input. */
  readonly cacheReadUsdPerMillion?: number;
  /**
   * For input that the provider wrote to its cache. Default the full price of input: state it for a provider that asks
   * more for writing.
   */
  readonly cacheWriteUsdPerMillion?: number;
}

/** By model id. A model that is not listed has an unknown price, which is never zero. */
export type PriceTable = Readonly<Record<string, Price>>;

/** What is charged. Tokens of the cache are counted in `inputTokens` too. */
export interface PricedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/**
 * Cost of a model call in nano-dollars (US dollars times 10^9), rounded up; `undefined` when the price is unknown.
 */
export function costNanoUsd(prices: PriceTable, modelId: string, tokens: PricedTokens): number | undefined {
  const price = priceOf(prices, modelId);
  if (price === undefined) return undefined;
  const { inputUsdPerMillion: full, cacheReadUsdPerMillion = full, cacheWriteUsdPerMillion = full } = price;
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = tokens;
  const plainTokens = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  return nanoUsd(
    plainTokens * full +
      cacheReadTokens * cacheReadUsdPerMillion +
      cacheWriteTokens * cacheWriteUsdPerMillion +
      outputTokens * price.outputUsdPerMillion,
  );
}

/** The most that a call of so many tokens can cost, whatever of it the provider reads from or writes to its cache. */
export function highestCostNanoUsd(prices: PriceTable, modelId: string, tokens: PricedTokens): number | undefined {
  const price = priceOf(prices, modelId);
  if (price === undefined) return undefined;
  const { inputUsdPerMillion, cacheReadUsdPerMillion = 0, cacheWriteUsdPerMillion = 0 } = price;
  const input = Math.max(inputUsdPerMillion, cacheReadUsdPerMillion, cacheWriteUsdPerMillion);
  return nanoUsd(tokens.inputTokens * input + tokens.outputTokens * price.outputUsdPerMillion);
}

function priceOf(prices: PriceTable, modelId: string): Price | undefined {
  return Object.hasOwn(prices, modelId) ? prices[modelId] : undefined;
}

/** Dollars per million tokens, times tokens, are thousands of nano-dollars. */
function nanoUsd(thousands: number): number {
  // 3 * 0.1 is a little more than 0.3 in binary; such noise must not be rounded up to a whole nano-dollar.
  return Math.ceil(Number((thousands * 1000).toPrecision(15)));
}

const FIELDS = [
  { field: "inputUsdPerMillion", isOptional: false },
  { field: "outputUsdPerMillion", isOptional: false },
  { field: "cacheReadUsdPerMillion", isOptional: true },
  { field: "cacheWriteUsdPerMillion", isOptional: true },
] as const;

/** Throws `BELAY_PRICE_INVALID` for a price that is negative, not finite or no number. */
export function checkPrices(prices: PriceTable): void {
  for (const [modelId, price] of Object.entries(prices)) {
    for (const { field, isOptional } of FIELDS) {
      const value: unknown = price?.[field];
      if (isOptional && value === undefined) continue;
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
        throw new BelayError(
          "BELAY_PRICE_INVALID",
          `The price of the model "${printable(modelId)}" has the ${field} ${printable(String(value))}. ` +
            "Use US dollars per million tokens, 0 or more; leave the model out when its price is unknown.",
        );
      }
    }
  }
}
