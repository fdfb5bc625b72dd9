import type { RecoveryClass } from "../core/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { Bounded } from "./bounded.ts";

/** Codes by which a tool says that the far side took nothing up and may be asked again. */
const THROTTLED: ReadonlySet<string> = new Set(["throttled", "overloaded", "rate_limited"]);

/** Whether a call may be made again at once: a far side that drops repetitions may, and so may one that is only read. */
export function isThrottled(ended: Bounded<ToolResult>, recovery: RecoveryClass): boolean {
  if (ended.status !== "done" || ended.value.ok || (recovery !== "read" && recovery !== "keyed")) return false;
  return ended.value.error.retryable && THROTTLED.has(ended.value.error.code);
}
