export { jsonProtocol, UNREADABLE_REPLY } from "./json-protocol.ts";
export { KNOWN_PRICES, type PriceRole, pricesFromEnv, UNPRICED_MODELS } from "./known-prices.ts";
export * from "./model-client.ts";
export { priceFeedUrl, readPriceFeed } from "./price-feed.ts";
export {
  checkPrices,
  costNanoUsd,
  highestCostNanoUsd,
  type Price,
  type PricedTokens,
  type PriceTable,
} from "./prices.ts";
export { type Script, type ScriptOptions, scriptedModel, scriptedTextModel } from "./scripted-model.ts";
export type { TextMessage, TextModel } from "./text-model.ts";
export {
  estimateMessageTokens,
  estimatePromptTokens,
  estimateRequestTokens,
  estimateTokens,
  messageCharacters,
  readUsage,
} from "./usage.ts";
