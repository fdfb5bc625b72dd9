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
    const result = encode(value, 1);
    return typeof result === "string" ? { ok: true, text: result } : { ok: false, ...locate(result) };
  } catch {
    // Only a Proxy can run foreign code here.
    return { ok: false, path: "$", problem: "cannot be read: a Proxy inside it threw" };
  }
}

function encode(value: unknown, depth: number): string | Failure {
  switch (typeof value) {
    case "string":
      return quote(value) ?? failure("a string with a lone surrogate is not Unicode");
    case "number":
      return Number.isFinite(value) ? String(value) : failure(`${value} is not a JSON number`);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) {
        return "null";
      }
      if (depth > DEPTH_MAX) {
        return { problem: "", steps: [], containers: [value] };
      }
      return Array.isArray(value) ? encodeArray(value, depth) : encodeObject(value, depth);
    default:
      return failure(`${typeof value} is not a JSON value`);
  }
}

function encodeArray(array: readonly unknown[], depth: number): string | Failure {
  // A subclass has a prototype that is not an array; Array.prototype, also that of another realm, is one.
  if (!Array.isArray(Object.getPrototypeOf(array))) {
    return failure("an instance of a subclass of Array is not plain data");
  }
  if (Object.getOwnPropertySymbols(array).length > 0) {
    return failure("an array with a symbol key would lose it");
  }
  let text = "[";
  for (let index = 0; index < array.length; index += 1) {
    const item = encodeProperty(array, index, depth);
    if (typeof item !== "string") {
      return item;
    }
    text += index === 0 ? item : `,${item}`;
  }
  // Every index is present by now, so any further name is a property that JSON would lose.
  if (Object.getOwnPropertyNames(array).length !== array.length + 1) {
    return failure("an array with a named property would lose it");
  }
  return `${text}]`;
}

function encodeObject(object: object, depth: number): string | Failure {
  if (!isPlain(object)) {
    return failure(`an instance of ${className(object)} is not plain data`);
  }
  if (Object.getOwnPropertySymbols(object).length > 0) {
    return failure("an object with a symbol key would lose it");
  }
  const keys = Object.getOwnPropertyNames(object);
  if (!isSorted(keys)) {
    // The default order of sort is by UTF-16 code units, which is the order of RFC 8785.
    keys.sort();
  }
  let text = "{";
  for (const key of keys) {
    const quotedKey = quote(key);
    if (quotedKey === undefined) {
      return failure("a key with a lone surrogate is not Unicode", key);
    }
    const item = encodeProperty(object, key, depth);
    if (typeof item !== "string") {
      return item;
    }
    text += text.length === 1 ? `${quotedKey}:${item}` : `,${quotedKey}:${item}`;
  }
  return `${text}}`;
}

function encodeProperty(container: object, key: string | number, depth: number): string | Failure {
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
  const result = encode(property.value, depth + 1);
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

function isSorted(keys: readonly string[]): boolean {
  let previous = "";
  for (const key of keys) {
    if (key < previous) {
      return false;
    }
    previous = key;
  }
  return true;
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
