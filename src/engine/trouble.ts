/** What is done when a call or a model has failed, hung or died: loaded together with the first trouble. */
export { afterIndefinite } from "./indefinite.ts";
export { recordLate } from "./late-outcome.ts";
export { modelFailed, modelTimedOut } from "./model-failure.ts";
export { recoverCall } from "./recover-step.ts";
export { judgeForeign, toolChangedEvent } from "./rejudge.ts";
export { untilTaken } from "./tool-retry.ts";
