export { type Agent, type ApprovalOptions, defineAgent, type LimitOptions } from "./agent.ts";
export { APPROVAL_TTL_MS_DEFAULT } from "./ask.ts";
export type { ControlInfo } from "./controls.ts";
export { createHarness } from "./create-harness.ts";
export * from "./harness.ts";
export type { BudgetLimit, PointsCall, PointsOptions } from "./points.ts";
export { wakeStale } from "./wake-stale.ts";
export type { Wake, Waker } from "./waker.ts";
