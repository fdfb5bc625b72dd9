import { printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";

/** US dollars per million tokens. */
export interface Price {
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
}

/** By model id. A model that is not listed has an unknown price, which is never zero. */
export type PriceTable = Readonly<Record<string, Price>>;

/**
 * Cost of a model call in nano-dollars (US dollars times 10^9), rounded up; `undefined` when the price is unknown.
 */
export function costNanoUsd(
  prices: PriceTable,
  modelId: string,
  usage: { readonly inputTokens: number; readonly outputTokens: number },
): number | undefined {
  if (!Object.hasOwn(prices, modelId)) return undefined;
  const price = prices[modelId];
  if (price === undefined) return undefined;
  // Dollars per million tokens are thousands of nano-dollars per token.
  const exact = (usage.inputTokens * price.inputUsdPerMillion + usage.outputTokens * price.outputUsdPerMillion) * 1000;
  // 3 * 0.1 is a little more than 0.3 in binary; such noise must not be rounded up to a whole nano-dollar.
  return Math.ceil(Number(exact.toPrecision(15)));
}

/** Throws `BELAY_PRICE_INVALID` for a price that is negative, not finite or no number. */
export function checkPrices(prices: PriceTable): void {
  for (const [modelId, price] of Object.entries(prices)) {
    for (const field of ["inputUsdPerMillion", "outputUsdPerMillion"] as const) {
      const value: unknown = price?.[field];
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
