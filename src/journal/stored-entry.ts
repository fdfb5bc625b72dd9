import { canonicalize, type EventJson, type RunEvent, UPCASTERS, type Upcaster, upcast } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { EVENT_BYTES_MAX, type JournalLine, type RunKey, type StoredEntry } from "./store.ts";

// canonicalize() refuses anything deeper, so a copy need not go further.
const DEPTH_MAX = 70;

const utf8 = new TextEncoder();

/**
 * The stored form of an event: canonical JSON, with `undefined` properties left out.
 *
 * Throws `BELAY_EVENT_INVALID` for what JSON cannot hold and `BELAY_EVENT_TOO_LARGE` above `EVENT_BYTES_MAX`.
 */
export function encodeEvent(run: RunKey, event: RunEvent): string {
  let result = canonicalize(event);
  if (!result.ok) {
    result = canonicalize(withoutUndefined(event, 0));
  }
  if (!result.ok) {
    throw new BelayError(
      "BELAY_EVENT_INVALID",
      `An event of run ${run.runId} cannot be stored, at ${result.path}: ${result.problem}. ` +
        "Build events from plain objects, arrays, well-formed strings, finite numbers, booleans and null only.",
    );
  }
  const { text } = result;
  // A UTF-16 unit takes one to three bytes, so most texts need no counting.
  const bytes = text.length * 3 <= EVENT_BYTES_MAX ? text.length : utf8.encode(text).length;
  if (bytes > EVENT_BYTES_MAX) {
    throw new BelayError(
      "BELAY_EVENT_TOO_LARGE",
      `An event of run ${run.runId} (${String(event.type)}) has ${bytes} bytes, more than ${EVENT_BYTES_MAX}. ` +
        "Keep large values as blobs and refer to them by their hash.",
    );
  }
  return text;
}

function withoutUndefined(value: unknown, depth: number): unknown {
  if (Array.isArray(value) && depth < DEPTH_MAX) {
    // An undefined item stays, to be refused: leaving it out would move the others.
    return value.map((item) => withoutUndefined(item, depth + 1));
  }
  if (!isPlainObject(value) || depth >= DEPTH_MAX) {
    return value;
  }
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) {
      // Plain assignment would set the prototype for the key __proto__.
      const kept = withoutUndefined(item, depth + 1);
      Object.defineProperty(copy, key, { value: kept, enumerable: true, configurable: true, writable: true });
    }
  }
  return copy;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Reads a stored line.
 *
 * Throws `BELAY_JOURNAL_TOO_NEW` for an event written by a later version, `BELAY_STORE_CORRUPT` for one that is no JSON.
 */
export function decodeLine(line: JournalLine): StoredEntry {
  return { seq: line.seq, at: line.at, schema: line.schema, event: decodeEvent(line) };
}

/** The event of a stored line in today's shape; throws as `decodeLine` does. The line itself is never rewritten. */
export function decodeEvent(line: JournalLine): RunEvent {
  return decodeWith(line, UPCASTERS);
}

/** `decodeEvent` with a chain of its own. */
export function decodeWith({ run, seq, schema, text }: JournalLine, upcasters: readonly Upcaster[]): RunEvent {
  const newest = upcasters.length + 1;
  if (schema > newest) {
    throw new BelayError(
      "BELAY_JOURNAL_TOO_NEW",
      `Event ${seq} of run ${run.runId} has schema ${schema}, and this version of Belay knows up to ${newest}. ` +
        "Update belay-harness on this machine; nothing was changed.",
    );
  }
  try {
    const event: unknown = JSON.parse(text);
    if (schema === newest) return event as RunEvent;
    if (!Number.isSafeInteger(schema) || schema < 1) throw new RangeError(`there is no schema ${schema}`);
    return upcast(event as EventJson, schema, upcasters) as unknown as RunEvent;
  } catch (cause) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `Event ${seq} of run ${run.runId} in the table journal is not readable JSON of schema ${schema}. Restore the store from a backup.`,
      { cause },
    );
  }
}
