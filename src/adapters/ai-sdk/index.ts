export {
  type AiSdkLanguageModel,
  type AiSdkOptions,
  type AiSdkReport,
  aiSdkModel,
} from "./ai-sdk-model.ts";
export type { AiSdkFinishReason } from "./reply.ts";
export type { AiSdkRetryOptions } from "./retry.ts";
export type { AiSdkUsage } from "./usage.ts";
