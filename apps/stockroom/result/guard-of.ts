import type { Decision, JsonValue } from "belay-harness";

/** The guard that a decision's record names, as `run-guard-rules.ts` writes it. */
export function guardOf(decision: Decision | undefined): string | undefined {
  const reads: JsonValue | undefined = decision?.reads;
  const isObject = typeof reads === "object" && reads !== null && !Array.isArray(reads);
  const guard = isObject ? (reads as { readonly [name: string]: JsonValue })["guard"] : undefined;
  return typeof guard === "string" ? guard : undefined;
}
