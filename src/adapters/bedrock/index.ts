export type { RetryOptions } from "../../retry/index.ts";
export { type BedrockOptions, bedrockModel } from "./bedrock-model.ts";
export { type CachePoints, cachePointsOf } from "./cache-points.ts";
