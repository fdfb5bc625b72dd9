import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../core/index.ts";
import type { ArgumentComparison, ExpectedTool, TrajectoryMatchMode } from "./suite.ts";

/** A call as far as matching looks at it. */
export interface MatchedCall {
  readonly tool: string;
  readonly args: JsonValue;
}

type Fits = (expected: ExpectedTool, call: MatchedCall) => boolean;

/** Whether the right tools were called, whatever their arguments. */
export function toolsMatch(
  expected: readonly ExpectedTool[],
  calls: readonly MatchedCall[],
  mode: TrajectoryMatchMode,
): boolean {
  return matches(expected, calls, mode, ({ name }, { tool }) => name === tool);
}

/** Whether the right tools were called with the arguments that the case names; further arguments are free. */
export function trajectoryMatches(
  expected: readonly ExpectedTool[],
  calls: readonly MatchedCall[],
  mode: TrajectoryMatchMode,
): boolean {
  return matches(expected, calls, mode, fitsWithArguments);
}

/** Share of the expected calls that were made with the arguments that the case names; 1 when it expects none. */
export function argumentShare(expected: readonly ExpectedTool[], calls: readonly MatchedCall[]): number {
  const found = expected.filter((each) => calls.some((call) => fitsWithArguments(each, call)));
  return expected.length === 0 ? 1 : found.length / expected.length;
}

function fitsWithArguments({ name, args = {}, compare = {} }: ExpectedTool, call: MatchedCall): boolean {
  return (
    name === call.tool &&
    Object.entries(args).every(([key, value]) =>
      argumentFits(value, fieldOf(call.args, key), Object.hasOwn(compare, key) ? compare[key] : undefined),
    )
  );
}

function argumentFits(expected: JsonValue, actual: JsonValue | undefined, how: ArgumentComparison = "exact"): boolean {
  switch (how) {
    case "exact":
      return isDeepStrictEqual(actual, expected);
    case "ignore":
      return actual !== undefined;
    case "set":
      return Array.isArray(actual) && Array.isArray(expected) && isDeepStrictEqual(new Set(actual), new Set(expected));
  }
}

function matches(
  expected: readonly ExpectedTool[],
  calls: readonly MatchedCall[],
  mode: TrajectoryMatchMode,
  fits: Fits,
): boolean {
  switch (mode) {
    case "exact":
      return expected.length === calls.length && calls.every((call, at) => isFit(expected[at], call, fits));
    case "in_order_subset": {
      let next = 0;
      for (const call of calls) {
        next += isFit(expected[next], call, fits) ? 1 : 0;
      }
      return next === expected.length;
    }
    case "any_order":
      return expected.length === calls.length && canAssign(expected, calls, fits);
  }
}

function isFit(expected: ExpectedTool | undefined, call: MatchedCall, fits: Fits): boolean {
  return expected !== undefined && fits(expected, call);
}

/** Whether each call can have an expectation of its own; tried out in full, since the lists are short. */
function canAssign(expected: readonly ExpectedTool[], calls: readonly MatchedCall[], fits: Fits): boolean {
  const [first, ...rest] = calls;
  if (first === undefined) {
    return true;
  }
  return expected.some(
    (each, at) => fits(each, first) && canAssign([...expected.slice(0, at), ...expected.slice(at + 1)], rest, fits),
  );
}

function fieldOf(value: JsonValue, key: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    ? (value as { readonly [name: string]: JsonValue })[key]
    : undefined;
}
