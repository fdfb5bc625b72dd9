import { canonicalize, type JsonValue } from "../core/index.ts";

export interface LoopCall {
  readonly step: number;
  readonly tool: string;
  readonly args: JsonValue;
}

/**
 * A sign that a model goes round in circles.
 *
 * `repeated_identical_call`: the same call at least twice in a row. `loop`: the same call at least `window` times
 * anywhere. `redundant_query`: a later call asks for a strict part of what an earlier call of the tool asked for.
 */
export interface LoopFinding {
  readonly kind: "repeated_identical_call" | "loop" | "redundant_query";
  readonly tool: string;
  /** Of the call, or of the later call for a redundant query. */
  readonly args: JsonValue;
  /** Model calls that asked for it, in order. */
  readonly steps: readonly number[];
}

const WINDOW = 3;

/** Finds the loops in the calls of one run. */
export function detectLoops(calls: readonly LoopCall[], window: number = WINDOW): readonly LoopFinding[] {
  return [...repeatedCalls(calls), ...frequentCalls(calls, window), ...redundantQueries(calls)];
}

function repeatedCalls(calls: readonly LoopCall[]): LoopFinding[] {
  const findings: LoopFinding[] = [];
  let row: LoopCall[] = [];
  const close = (): void => {
    const [first] = row;
    if (first !== undefined && row.length >= 2) {
      findings.push(finding("repeated_identical_call", first, row));
    }
  };
  for (const call of calls) {
    const [first] = row;
    if (first !== undefined && keyOf(first) === keyOf(call)) {
      row.push(call);
    } else {
      close();
      row = [call];
    }
  }
  close();
  return findings;
}

function frequentCalls(calls: readonly LoopCall[], window: number): LoopFinding[] {
  return [...Map.groupBy(calls, keyOf).values()].flatMap((same) => {
    const [first] = same;
    return first !== undefined && same.length >= window ? [finding("loop", first, same)] : [];
  });
}

function redundantQueries(calls: readonly LoopCall[]): LoopFinding[] {
  return calls.flatMap((call, at) => {
    const earlier = calls.slice(0, at).find((other) => other.tool === call.tool && isStrictPart(call.args, other.args));
    return earlier === undefined ? [] : [finding("redundant_query", call, [earlier, call])];
  });
}

function finding(kind: LoopFinding["kind"], { tool, args }: LoopCall, calls: readonly LoopCall[]): LoopFinding {
  return { kind, tool, args, steps: calls.map(({ step }) => step) };
}

function isStrictPart(part: JsonValue, whole: JsonValue): boolean {
  const [few, many] = [fieldsOf(part), fieldsOf(whole)];
  return few.size < many.size && [...few].every(([name, text]) => many.get(name) === text);
}

function fieldsOf(args: JsonValue): ReadonlyMap<string, string> {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return new Map(isObject ? Object.entries(args).map(([name, value]) => [name, textOf(value)]) : []);
}

function keyOf({ tool, args }: LoopCall): string {
  return `${tool} ${textOf(args)}`;
}

function textOf(value: JsonValue): string {
  const canonical = canonicalize(value);
  return canonical.ok ? canonical.text : JSON.stringify(value);
}
