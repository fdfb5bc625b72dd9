export type { RetryOptions as AiSdkRetryOptions } from "../../retry/index.ts";
export {
  type AiSdkLanguageModel,
  type AiSdkOptions,
  type AiSdkReport,
  aiSdkModel,
} from "./ai-sdk-model.ts";
export type { AiSdkFinishReason } from "./reply.ts";
export type { AiSdkUsage } from "./usage.ts";
