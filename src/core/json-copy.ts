import type { JsonValue } from "./canonical-json.ts";
import { isPlain } from "./plain-object.ts";
import { printable, renderPath } from "./printable.ts";
import { numberProblem, type StrictJson, type StrictJsonCode, type StrictJsonLimits } from "./strict-json.ts";

export interface JsonCopyOptions extends StrictJsonLimits {
  /** Replaces lone surrogates by U+FFFD instead of refusing them: for results, which cut-off texts are part of. */
  readonly repairText?: boolean;
}

const FAILED: unique symbol = Symbol("failed");
type Copied = JsonValue | typeof FAILED;

interface Copier {
  readonly depthMax: number;
  charactersLeft: number;
  readonly repairText: boolean;
  problem: { readonly code: StrictJsonCode; readonly message: string } | undefined;
  /** From the failing place outwards, filled while the recursion returns. */
  readonly steps: (string | number)[];
  readonly ancestors: Set<object>;
}

/**
 * Applies the rules of `parseStrictJson` to a value that somebody else parsed or made, and gives a fresh plain copy.
 *
 * A property that is `undefined` is left out, as JSON does; everything else that JSON cannot hold is `not_json`.
 * Calls no getter and no `toJSON`. Never throws.
 */
export function checkJsonValue(value: unknown, options: JsonCopyOptions = {}): StrictJson {
  const { depthMax = 32, charactersMax = 1_000_000, repairText = false } = options;
  const copier: Copier = {
    depthMax: Math.min(depthMax, 500),
    charactersLeft: charactersMax,
    repairText,
    problem: undefined,
    steps: [],
    ancestors: new Set(),
  };
  let copied: Copied = FAILED;
  try {
    copied = copyValue(copier, value, 1);
  } catch {
    // Only a Proxy can run foreign code here.
    fail(copier, "not_json", "a Proxy inside the value threw");
  }
  if (copied !== FAILED) {
    return { ok: true, value: copied };
  }
  const problem = copier.problem ?? { code: "not_json", message: "the value is not JSON" };
  const { code } = problem;
  const message = code === "too_large" ? `${problem.message} ${charactersMax} characters` : problem.message;
  return { ok: false, code, message, path: renderPath(copier.steps.toReversed()) };
}

function copyValue(copier: Copier, value: unknown, depth: number): Copied {
  switch (typeof value) {
    case "string":
      return copyText(copier, value);
    case "number": {
      const refusal = numberProblem(value, String(value));
      return refusal === undefined ? charge(copier, 2, value + 0) : fail(copier, refusal.code, refusal.message);
    }
    case "boolean":
      return charge(copier, 4, value);
    case "object":
      return value === null ? charge(copier, 4, null) : copyContainer(copier, value, depth);
    default:
      return fail(copier, "not_json", `${typeof value} is not a JSON value`);
  }
}

function copyContainer(copier: Copier, container: object, depth: number): Copied {
  if (copier.ancestors.has(container)) {
    return fail(copier, "not_json", "a value that contains itself has no end");
  }
  if (depth > copier.depthMax) {
    return fail(copier, "too_deep", `more than ${copier.depthMax} objects or arrays inside each other`);
  }
  if (charge(copier, 2, null) === FAILED) {
    return FAILED;
  }
  copier.ancestors.add(container);
  const copied = Array.isArray(container) ? copyArray(copier, container, depth) : copyObject(copier, container, depth);
  copier.ancestors.delete(container);
  return copied;
}

function copyArray(copier: Copier, array: readonly unknown[], depth: number): Copied {
  const copy: JsonValue[] = [];
  for (let index = 0; index < array.length; index += 1) {
    const item = copyProperty(copier, array, index, depth);
    if (item === FAILED || item === undefined) {
      return item ?? failAt(copier, index, "a hole or undefined in an array is not a JSON value");
    }
    copy.push(item);
  }
  return copy;
}

function copyObject(copier: Copier, object: object, depth: number): Copied {
  if (!isPlain(object)) {
    return fail(copier, "not_json", "an instance of a class is not plain data");
  }
  if (Object.getOwnPropertySymbols(object).length > 0) {
    return fail(copier, "not_json", "a symbol key would be lost");
  }
  const copy: Record<string, JsonValue> = {};
  for (const key of Object.keys(object)) {
    if (key === "__proto__") {
      return fail(copier, "forbidden_key", 'the key "__proto__" is not allowed');
    }
    const copiedKey = copyText(copier, key);
    if (copiedKey === FAILED) {
      return FAILED;
    }
    if (Object.hasOwn(copy, copiedKey)) {
      return fail(copier, "duplicate_key", `the key "${printable(copiedKey, 64)}" appears twice in one object`);
    }
    const item = copyProperty(copier, object, key, depth);
    if (item === FAILED) {
      return FAILED;
    }
    if (item !== undefined) {
      copy[copiedKey] = item;
    }
  }
  return copy;
}

function copyProperty(copier: Copier, container: object, key: string | number, depth: number): Copied | undefined {
  const property = Object.getOwnPropertyDescriptor(container, key);
  if (property?.get !== undefined || property?.set !== undefined) {
    return failAt(copier, key, "an accessor may answer differently each time");
  }
  if (property?.value === undefined) {
    return undefined;
  }
  const copied = copyValue(copier, property.value, depth + 1);
  if (copied === FAILED) {
    copier.steps.push(key);
  }
  return copied;
}

function copyText(copier: Copier, text: string): string | typeof FAILED {
  if (charge(copier, text.length + 2, null) === FAILED) {
    return FAILED;
  }
  if (text.isWellFormed()) {
    return text;
  }
  return copier.repairText
    ? text.toWellFormed()
    : fail(copier, "lone_surrogate", "a string holds half of a surrogate pair, which is not Unicode");
}

/** Counts what a value takes at least as text, so that a value which refers to itself often cannot grow. */
function charge<Value extends JsonValue>(copier: Copier, characters: number, value: Value): Value | typeof FAILED {
  copier.charactersLeft -= characters;
  return copier.charactersLeft < 0 ? fail(copier, "too_large", "the value is larger than") : value;
}

function failAt(copier: Copier, key: string | number, message: string): typeof FAILED {
  copier.steps.push(key);
  return fail(copier, "not_json", message);
}

function fail(copier: Copier, code: StrictJsonCode, message: string): typeof FAILED {
  copier.problem = { code, message };
  return FAILED;
}
