export { type ReplayModelOptions, recordingModel, replayModel } from "./recorded-model.ts";
export { type ReplayedCall, type ReplayedDecision, type ReplayReport, replayDecisions } from "./replay-decisions.ts";
export { formatReplay } from "./replay-text.ts";
export { requestHash } from "./request-hash.ts";
