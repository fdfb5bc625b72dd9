import { isDeepStrictEqual } from "node:util";
import type { QuestionOutcome } from "./case-result.ts";
import type { Expectation } from "./suite.ts";

/** What a case did, as far as its expectation speaks of it. */
export interface Observed {
  readonly stop: string;
  readonly paused: boolean;
  readonly endState: unknown;
  readonly executed: readonly string[];
  readonly modelSteps: number;
}

/** What the caps and the texts of an expectation are held against. */
export interface ObservedDetail {
  readonly modelSteps: number;
  /** Absent when a price was unknown. */
  readonly costNanoUsd?: number;
  /** Each request to the model in full. */
  readonly shown: readonly string[];
}

/** A sentence for each cap that was passed, and for each text that the model should or should not have seen. */
export function unmetCaps(expect: Expectation, { modelSteps, costNanoUsd, shown }: ObservedDetail): string[] {
  const { modelCallsMax, costUsdMax, seen = [], notSeen = [] } = expect;
  const isSeen = (text: string): boolean => shown.some((request) => request.includes(text));
  return [
    ...(modelCallsMax !== undefined && modelSteps > modelCallsMax
      ? [`model calls are ${modelSteps}, at most ${modelCallsMax} expected`]
      : []),
    ...(costUsdMax !== undefined && !(costNanoUsd !== undefined && costNanoUsd <= costUsdMax * 1e9)
      ? [
          `the cost is ${costNanoUsd === undefined ? "unknown" : `$${costNanoUsd / 1e9}`}, at most $${costUsdMax} expected`,
        ]
      : []),
    ...seen.filter((text) => !isSeen(text)).map((text) => `the model was not shown ${JSON.stringify(text)}`),
    ...notSeen.filter(isSeen).map((text) => `the model was shown ${JSON.stringify(text)}`),
  ];
}

/** A sentence for each expectation that was not met; decision codes are compared elsewhere. */
export function unmetExpectations(expect: Expectation, observed: Observed): string[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["stop", expect.stop, observed.stop],
    ["paused", expect.paused, observed.paused],
    ...Object.entries(expect.endState ?? {}).map(
      ([key, value]) => [`end state of ${key}`, value, fieldOf(observed.endState, key)] as const,
    ),
    ["executed", expect.executed, observed.executed],
    ["model calls", expect.modelCalls, observed.modelSteps],
  ];
  return pairs
    .filter(([, expected, actual]) => expected !== undefined && !isDeepStrictEqual(plain(actual), expected))
    .map(([name, expected, actual]) => `${name} is ${show(actual)}, expected ${show(expected)}`);
}

/** Compares a question to a person with the expectation; a case that does not say counts as nothing. */
export function questionOutcome(expected: boolean | undefined, asked: boolean): QuestionOutcome {
  if (expected === undefined || (!expected && !asked)) {
    return "none";
  }
  if (expected && asked) {
    return "true_positive";
  }
  return asked ? "false_positive" : "false_negative";
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

/** Rows of a database have no prototype, and what cases expect comes from JSON: compare what JSON would hold. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null");
}

function show(value: unknown): string {
  return value === undefined ? "absent" : JSON.stringify(value);
}
