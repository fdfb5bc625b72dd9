import { printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";

/** A deep copy of a state, to put it back from as often as wanted. */
export type Snapshot = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | readonly unknown[] | object;

const DEPTH_MAX = 100;

/**
 * Copies a state.
 *
 * Throws `BELAY_STATE_INVALID` for what could not be put back as it was: functions, accessors, symbols, instances of
 * classes, and an object below the top that a copy would make another kind of.
 */
export function takeSnapshot(state: object): Snapshot {
  if (!isPlain(state) && !Array.isArray(state) && !(state instanceof Map) && !(state instanceof Set)) {
    throw notRestorable("the state itself", "is no plain object, array, Map or Set");
  }
  check(state, "state", new Set());
  return structuredClone(state);
}

/** Makes a state equal to a snapshot of it; the object stays the same one, so whoever holds it sees the change. */
export function restore(state: object, snapshot: Snapshot): void {
  // A copy again: the snapshot may be needed once more, and the state's owner will change what it is given.
  const fresh: unknown = structuredClone(snapshot);
  if (state instanceof Map && fresh instanceof Map) {
    state.clear();
    for (const [key, value] of fresh) state.set(key, value);
  } else if (state instanceof Set && fresh instanceof Set) {
    state.clear();
    for (const value of fresh) state.add(value);
  } else if (Array.isArray(state) && Array.isArray(fresh)) {
    state.length = 0;
    for (const value of fresh) state.push(value);
  } else {
    for (const key of Reflect.ownKeys(state)) Reflect.deleteProperty(state, key);
    Object.assign(state, fresh);
  }
}

function check(value: unknown, path: string, seen: Set<unknown>): void {
  if (typeof value === "function" || typeof value === "symbol") throw notRestorable(path, `is a ${typeof value}`);
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  // The depth of the path stands for that of the value: each level adds one sign at least.
  if (path.split(/[.[]/).length > DEPTH_MAX) throw notRestorable(path, `lies deeper than ${DEPTH_MAX} levels`);
  if (value instanceof Map) {
    for (const [key, item] of value) {
      check(key, `${path}[key]`, seen);
      check(item, `${path}[${shown(key)}]`, seen);
    }
  } else if (value instanceof Set) {
    for (const item of value) check(item, `${path}[item]`, seen);
  } else if (Array.isArray(value) || isPlain(value)) {
    checkProperties(value, path, seen);
  } else if (!isCopied(value)) {
    throw notRestorable(path, `is a ${value.constructor?.name ?? "value without a prototype"}`);
  }
}

function checkProperties(value: object, path: string, seen: Set<unknown>): void {
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === "symbol") throw notRestorable(path, "has a symbol as a key");
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (Array.isArray(value) && key === "length") continue;
    if (property === undefined || !("value" in property))
      throw notRestorable(`${path}.${shown(key)}`, "is an accessor");
    if (property.writable !== true || property.configurable !== true || property.enumerable !== true) {
      throw notRestorable(`${path}.${shown(key)}`, "cannot be written, removed or listed");
    }
    check(property.value, `${path}.${shown(key)}`, seen);
  }
}

function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype;
}

/** Objects that a structured clone gives back as the same kind. */
function isCopied(value: object): boolean {
  return value instanceof Date || value instanceof RegExp || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function shown(key: unknown): string {
  return typeof key === "string" || typeof key === "number" ? printable(String(key), 40) : typeof key;
}

function notRestorable(path: string, problem: string): BelayError {
  return new BelayError(
    "BELAY_STATE_INVALID",
    `The state cannot be put back as it was: ${path} ${problem}. ` +
      "Keep plain data in it: objects, arrays, Maps, Sets, dates, numbers, texts.",
  );
}
