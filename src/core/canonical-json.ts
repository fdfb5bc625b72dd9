import { isPlain } from "./plain-object.ts";

/** What JSON can hold, and nothing else. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The canonical text, or the first place that JSON cannot hold: `path` is written like `$.items[2]["odd key"]`. */
export type Canonicalized =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly path: string; readonly problem: string };

// Bounds the recursion, so that a hostile value cannot exhaust the stack; no honest record comes near it.
const DEPTH_MAX = 64;
const KEY_SHOWN_MAX = 64;
const PLAIN_ASCII = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

interface Failure {
  problem: string;
  /** From the failing place outwards, filled while the recursion returns. */
  readonly steps: (string | number)[];
  /** Only for a value that is too deep: its containers from the innermost outwards, to tell a cycle from depth. */
  readonly containers: object[] | undefined;
}

/**
 * Encodes a value as canonical JSON (RFC 8785): sorted keys, no spaces, one text for equal values.
 *
 * Refuses, instead of dropping or guessing, whatever JSON cannot hold: `undefined`, functions, symbols, bigint, NaN,
 * Infinity, lone surrogates, sparse arrays, cycles, class instances, accessors, hidden and symbol keys, and more than
 * 64 containers inside each other. `-0` becomes `0`. Calls no getter and no `toJSON`. Never throws.
 */
export function canonicalize(value: unknown): Canonicalized {
  try {
    const result = encode("", value, 1);
    return typeof result === "string" ? { ok: true, text: joined(result) } : { ok: false, ...locate(result) };
  } catch {
    // Only a Proxy can run foreign code here.
    return { ok: false, path: "$", problem: "cannot be read: a Proxy inside it threw" };
  }
}

/**
 * `canonicalize` of what was canonicalised or parsed before, without a second look at what only foreign objects have.
 *
 * Throws a TypeError for what is no JSON value all the same, such as a property that is `undefined`.
 */
export function canonicalizeChecked(value: JsonValue): string {
  return joined(encodeChecked("", value));
}

/** The same text in one piece: the pieces that it grew from would otherwise be kept as long as the text. */
function joined(text: string): string {
  // Searching a text joins it, and the first character is found or not without searching on.
  return text.startsWith(" ") ? `${text}` : text;
}

function encodeChecked(before: string, value: JsonValue): string {
  if (typeof value !== "object" || value === null) {
    const text = encode(before, value, 1);
    if (typeof text === "string") return text;
    throw new TypeError(text.problem);
  }
  if (isList(value)) {
    let text = `${before}[`;
    for (let index = 0; index < value.length; index += 1) {
      text = encodeChecked(index === 0 ? text : `${text},`, value[index] as JsonValue);
    }
    return `${text}]`;
  }
  let text = before;
  let separator = "{";
  for (const key of sortedKeys(Object.keys(value))) {
    text = encodeChecked(text + separator + (quoteKey(key) ?? `${JSON.stringify(key)}:`), value[key] as JsonValue);
    separator = ",";
  }
  return separator === "{" ? `${text}{}` : `${text}}`;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The text so far with that of a value behind it: one growing text takes less memory than many that are joined. */
function encode(text: string, value: unknown, depth: number): string | Failure {
  switch (typeof value) {
    case "string": {
      const quoted = quote(value);
      return quoted === undefined ? failure("a string with a lone surrogate is not Unicode") : text + quoted;
    }
    case "number":
      return Number.isFinite(value) ? text + String(value) : failure(`${value} is not a JSON number`);
    case "boolean":
      return text + (value ? "true" : "false");
    case "object":
      if (value === null) {
        return `${text}null`;
      }
      if (depth > DEPTH_MAX) {
        return { problem: "", steps: [], containers: [value] };
      }
      return Array.isArray(value) ? encodeArray(text, value, depth) : encodeObject(text, value, depth);
    default:
      return failure(`${typeof value} is not a JSON value`);
  }
}

function encodeArray(before: string, array: readonly unknown[], depth: number): string | Failure {
  // A subclass has a prototype that is not an array; Array.prototype, also that of another realm, is one.
  if (!Array.isArray(Object.getPrototypeOf(array))) {
    return failure("an instance of a subclass of Array is not plain data");
  }
  if (Object.getOwnPropertySymbols(array).length > 0) {
    return failure("an array with a symbol key would lose it");
  }
  let text = `${before}[`;
  for (let index = 0; index < array.length; index += 1) {
    const longer = encodeProperty(index === 0 ? text : `${text},`, array, index, depth);
    if (typeof longer !== "string") {
      return longer;
    }
    text = longer;
  }
  // Every index is present by now, so any further name is a property that JSON would lose.
  if (Object.getOwnPropertyNames(array).length !== array.length + 1) {
    return failure("an array with a named property would lose it");
  }
  return `${text}]`;
}

function encodeObject(before: string, object: object, depth: number): string | Failure {
  if (!isPlain(object)) {
    return failure(`an instance of ${className(object)} is not plain data`);
  }
  if (Object.getOwnPropertySymbols(object).length > 0) {
    return failure("an object with a symbol key would lose it");
  }
  let text = before;
  let separator = "{";
  for (const key of sortedKeys(Object.getOwnPropertyNames(object))) {
    const quotedKey = quoteKey(key);
    if (quotedKey === undefined) {
      return failure("a key with a lone surrogate is not Unicode", key);
    }
    const longer = encodeProperty(text + separator + quotedKey, object, key, depth);
    if (typeof longer !== "string") {
      return longer;
    }
    text = longer;
    separator = ",";
  }
  return separator === "{" ? `${text}{}` : `${text}}`;
}

// The keys of records are few and come again and again. Bounded, because whoever sends data chooses its keys.
const quotedKeys = new Map<string, string>();
const QUOTED_KEYS_MAX = 512;
const QUOTED_KEY_CHARACTERS_MAX = 40;

/** The key in quotes and a colon, or undefined for one with a lone surrogate. */
function quoteKey(key: string): string | undefined {
  const known = quotedKeys.get(key);
  if (known !== undefined) {
    return known;
  }
  const quoted = quote(key);
  if (quoted === undefined) {
    return undefined;
  }
  const text = `${quoted}:`;
  if (quotedKeys.size < QUOTED_KEYS_MAX && key.length <= QUOTED_KEY_CHARACTERS_MAX) {
    quotedKeys.set(key, text);
  }
  return text;
}

function encodeProperty(text: string, container: object, key: string | number, depth: number): string | Failure {
  const property = Object.getOwnPropertyDescriptor(container, key);
  if (property === undefined) {
    return failure("a hole in an array is not a JSON value", key);
  }
  if (property.get !== undefined || property.set !== undefined) {
    return failure("an accessor may answer differently each time", key);
  }
  if (property.enumerable !== true) {
    return failure("a hidden (non-enumerable) property would be lost", key);
  }
  if (key === "toJSON" && typeof property.value === "function") {
    return failure("an object with toJSON() is not plain data", key);
  }
  const result = encode(text, property.value, depth + 1);
  if (typeof result !== "string") {
    result.steps.push(key);
    result.containers?.push(container);
  }
  return result;
}

/** The string in quotes, or undefined for one with a lone surrogate. */
function quote(text: string): string | undefined {
  // Most keys and values are printable ASCII without a quote or backslash and need no escape.
  if (PLAIN_ASCII.test(text)) {
    return `"${text}"`;
  }
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

function failure(problem: string, key?: string | number): Failure {
  return { problem, steps: key === undefined ? [] : [key], containers: undefined };
}

function className(object: object): string {
  const prototype: unknown = Object.getPrototypeOf(object);
  const maker =
    typeof prototype === "object" && prototype !== null
      ? Object.getOwnPropertyDescriptor(prototype, "constructor")?.value
      : undefined;
  return typeof maker === "function" && typeof maker.name === "string" && maker.name !== "" ? maker.name : "a class";
}

// Records have few keys, and sorting those by hand needs no memory; a list of any length would take a square of time.
const SORTED_BY_HAND_MAX = 24;

/** The same list, sorted in its place by UTF-16 code units, which is the order of RFC 8785. */
function sortedKeys(keys: string[]): string[] {
  if (keys.length > SORTED_BY_HAND_MAX) {
    return keys.sort();
  }
  for (let end = 1; end < keys.length; end += 1) {
    const key = keys[end] ?? "";
    let place = end;
    for (let before = keys[place - 1]; before !== undefined && before > key; before = keys[place - 1]) {
      keys[place] = before;
      place -= 1;
    }
    keys[place] = key;
  }
  return keys;
}

function locate({ problem, steps, containers }: Failure): { path: string; problem: string } {
  const path = steps.toReversed();
  if (containers === undefined) {
    return { path: render(path), problem };
  }
  const chain = containers.toReversed();
  const repeated = chain.findIndex((container, depth) => chain.indexOf(container) < depth);
  return repeated === -1
    ? { path: render(path), problem: `more than ${DEPTH_MAX} containers inside each other, a bound on recursion` }
    : { path: render(path.slice(0, repeated)), problem: "a value that contains itself has no end" };
}

function render(path: readonly (string | number)[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") {
      return `${text}[${step}]`;
    }
    const shown = step.length > KEY_SHOWN_MAX ? `${step.slice(0, KEY_SHOWN_MAX)}…` : step;
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(shown) ? `${text}.${shown}` : `${text}[${JSON.stringify(shown)}]`;
  }, "$");
}
