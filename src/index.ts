/**
 * The public list of the root entry, and nothing else. It has no runtime dependency and loads no `node:` module but
 * `node:crypto`. Stores live behind their own entries: `belay-harness/store` (in memory), `belay-harness/sqlite`.
 */
export { argsHash, refusalToDecide } from "./approval/index.ts";
export { type Clock, systemClock } from "./clock.ts";
export {
  type Filter,
  type FilterContext,
  type Filtered,
  type FormatToolError,
  sizeCap,
  stripInvisible,
  wrapUntrusted,
} from "./context/index.ts";
export type * from "./core/index.ts";
export {
  accepts,
  answerHoldsUntil,
  apply,
  callsInDoubt,
  canonicalize,
  checkJsonValue,
  DEFAULT_LIMITS,
  deepFreeze,
  EVENT_SCHEMA,
  effectsOf,
  findCall,
  fold,
  isCovered,
  limitBeforeModelCall,
  mayDecide,
  parseStrictJson,
  printable,
  renderPath,
  terminationCode,
  transition,
  UPCASTERS,
  upcast,
  wallClockLimit,
  workedMs,
} from "./core/index.ts";
export * from "./engine/index.ts";
export { BelayError, type BelayErrorCode } from "./errors.ts";
export type * from "./journal/index.ts";
export {
  costNanoUsd,
  estimateTokens,
  type GenerateOptions,
  type ModelClient,
  type ModelMessage,
  type ModelMessageCall,
  type ModelReply,
  type ModelRequest,
  type Price,
  type PriceTable,
  type ReportedUsage,
  type RequestedCall,
  type TextMessage,
  type TextModel,
  type ToolSpec,
} from "./model/index.ts";
export {
  allow,
  ask,
  type DecideContext,
  decideCall,
  defineRule,
  deny,
  halt,
  type Rule,
  type RuleCall,
  type RuleContext,
  type Verdict,
} from "./policy/index.ts";
export {
  type AnyTool,
  type CheckedArgs,
  createToolExecutor,
  defineTool,
  isToolFailure,
  type Tool,
  type ToolContext,
  type ToolContract,
  type ToolExecutor,
  type ToolFailure,
  type ToolResult,
  type ToolSchema,
  toolFailure,
} from "./tool/index.ts";
