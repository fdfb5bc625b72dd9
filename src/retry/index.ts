export {
  nextDelayMs,
  type RetryOptions,
  type RetryPlan,
  retryPlan,
  waitOrAbort,
} from "./retry.ts";
