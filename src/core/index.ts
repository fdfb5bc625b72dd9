export * from "./call.ts";
export { canonicalize, canonicalizeChecked, type JsonValue } from "./canonical-json.ts";
export type { Effect } from "./effect.ts";
export { effectsOf } from "./effects.ts";
export * from "./event.ts";
export { deepFreeze } from "./freeze.ts";
export { checkJsonValue, type JsonCopyOptions } from "./json-copy.ts";
export { type LimitHit, limitBeforeModelCall, wallClockLimit, workedMs } from "./limit-check.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
export { isCovered } from "./on-call.ts";
export { printable, renderPath } from "./printable.ts";
export * from "./run-state.ts";
export {
  parseStrictJson,
  type StrictJson,
  type StrictJsonCode,
  type StrictJsonFailure,
  type StrictJsonLimits,
} from "./strict-json.ts";
export { type LimitId, type Termination, terminationCode } from "./termination.ts";
export { accepts, apply, fold, transition } from "./transition.ts";
export { answerHoldsUntil, callsInDoubt, findCall, mayDecide } from "./turn.ts";
export { type EventJson, UPCASTERS, type Upcaster, upcast } from "./upcast.ts";
