import type { JsonValue } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { Fault } from "./suite.ts";

/** The error for a fault that cannot be made. */
export function invalidFault(fault: Fault, problem: string): BelayError {
  return new BelayError("BELAY_EVAL_CASE", `the fault ${JSON.stringify(fault)} cannot be made: ${problem}.`);
}

/** Name of the tool that a fault is about. Throws `BELAY_EVAL_CASE` for one that the agent does not have. */
export function toolOf(fault: Fault, tools: readonly string[]): string {
  const { tool } = fault;
  if (typeof tool !== "string" || !tools.includes(tool)) {
    throw invalidFault(fault, `tool must be one of ${tools.join(", ")}`);
  }
  return tool;
}

/** A whole number from 0 of a fault; `fallback` when it has none. Throws `BELAY_EVAL_CASE`. */
export function countOf(fault: Fault, name: string, fallback: number): number {
  const value: JsonValue = fault[name] ?? fallback;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidFault(fault, `${name} must be a whole number from 0`);
  }
  return value;
}
