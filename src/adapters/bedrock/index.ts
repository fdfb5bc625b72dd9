export { type BedrockOptions, bedrockModel } from "./bedrock-model.ts";
export { type CachePoints, cachePointsOf } from "./cache-points.ts";
export type { RetryOptions } from "./retry.ts";
