import type { JsonValue } from "./canonical-json.ts";
import { printable, renderPath } from "./printable.ts";

/** Why a text or a value is not taken as JSON. */
export type StrictJsonCode =
  | "invalid_json"
  | "duplicate_key"
  | "not_finite"
  | "unsafe_integer"
  | "too_deep"
  | "forbidden_key"
  | "lone_surrogate"
  | "too_large"
  /** Only for a value that was no text: `undefined`, a function, a bigint, a class instance, a cycle. */
  | "not_json";

/** `path` is written like `items[2].name`; `message` is safe to show to a model. */
export interface StrictJsonFailure {
  readonly ok: false;
  readonly code: StrictJsonCode;
  readonly message: string;
  readonly path: string;
}

export type StrictJson = { readonly ok: true; readonly value: JsonValue } | StrictJsonFailure;

export interface StrictJsonLimits {
  /** Containers inside each other. Default 32, at most 500. */
  readonly depthMax?: number;
  /** Default 1,000,000. */
  readonly charactersMax?: number;
}

const FAILED: unique symbol = Symbol("failed");
type Read<Value> = Value | typeof FAILED;

interface Reader {
  readonly text: string;
  at: number;
  readonly depthMax: number;
  problem: { readonly code: StrictJsonCode; readonly message: string } | undefined;
  /** From the failing place outwards, filled while the recursion returns. */
  readonly steps: (string | number)[];
}

/**
 * Reads one JSON text (RFC 8259) so that nobody can read it differently.
 *
 * Refuses what parsers disagree about: keys that appear twice (compared after unescaping), numbers that overflow,
 * integers beyond 2^53-1, lone surrogates, the key `__proto__`, and documents that are too deep or too long. `-0`
 * becomes `0`. A blank text is `{}`, because models send it for a call without arguments. Never throws.
 */
export function parseStrictJson(text: string, limits: StrictJsonLimits = {}): StrictJson {
  const { depthMax = 32, charactersMax = 1_000_000 } = limits;
  if (text.length > charactersMax) {
    const message = `the JSON text has ${text.length} characters, and ${charactersMax} are allowed`;
    return { ok: false, code: "too_large", message, path: renderPath([]) };
  }
  // 500 levels of this recursion fit any stack.
  const reader: Reader = { text, at: 0, depthMax: Math.min(depthMax, 500), problem: undefined, steps: [] };
  skipBlank(reader);
  if (reader.at === text.length) {
    return { ok: true, value: {} };
  }
  let value = readValue(reader, 1);
  skipBlank(reader);
  if (value !== FAILED && reader.at < text.length) {
    value = unexpected(reader, "the end of the text");
  }
  if (value !== FAILED) {
    return { ok: true, value };
  }
  const problem = reader.problem ?? { code: "invalid_json", message: "the text is not valid JSON" };
  return { ok: false, ...problem, path: renderPath(reader.steps.toReversed()) };
}

function readValue(reader: Reader, depth: number): Read<JsonValue> {
  skipBlank(reader);
  switch (reader.text[reader.at]) {
    case "{":
    case "[":
      if (depth > reader.depthMax) {
        return fail(reader, "too_deep", `more than ${reader.depthMax} objects or arrays inside each other`);
      }
      return reader.text[reader.at] === "{" ? readObject(reader, depth) : readArray(reader, depth);
    case '"':
      return readString(reader);
    case "t":
      return readWord(reader, "true", true);
    case "f":
      return readWord(reader, "false", false);
    case "n":
      return readWord(reader, "null", null);
    default:
      return readNumber(reader);
  }
}

function readObject(reader: Reader, depth: number): Read<JsonValue> {
  const object: Record<string, JsonValue> = {};
  reader.at += 1;
  if (take(reader, "}")) {
    return object;
  }
  do {
    const key = readKey(reader, object);
    if (key === FAILED) {
      return FAILED;
    }
    if (!take(reader, ":")) {
      return unexpected(reader, '":"');
    }
    const value = readValue(reader, depth + 1);
    if (value === FAILED) {
      reader.steps.push(key);
      return FAILED;
    }
    object[key] = value;
  } while (take(reader, ","));
  return take(reader, "}") ? object : unexpected(reader, '"," or "}"');
}

function readKey(reader: Reader, object: Record<string, JsonValue>): Read<string> {
  skipBlank(reader);
  if (reader.text[reader.at] !== '"') {
    return unexpected(reader, "a key in double quotes");
  }
  const key = readString(reader);
  if (key === FAILED) {
    return FAILED;
  }
  if (key === "__proto__") {
    return fail(reader, "forbidden_key", 'the key "__proto__" is not allowed');
  }
  if (Object.hasOwn(object, key)) {
    reader.steps.push(key);
    return fail(reader, "duplicate_key", `the key "${printable(key, 64)}" appears twice in one object`);
  }
  return key;
}

function readArray(reader: Reader, depth: number): Read<JsonValue> {
  const array: JsonValue[] = [];
  reader.at += 1;
  if (take(reader, "]")) {
    return array;
  }
  do {
    const item = readValue(reader, depth + 1);
    if (item === FAILED) {
      reader.steps.push(array.length);
      return FAILED;
    }
    array.push(item);
  } while (take(reader, ","));
  return take(reader, "]") ? array : unexpected(reader, '"," or "]"');
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

function readString(reader: Reader): Read<string> {
  let value = "";
  reader.at += 1;
  for (;;) {
    const start = reader.at;
    while (isPlainCharacter(reader.text.charCodeAt(reader.at))) {
      reader.at += 1;
    }
    value += reader.text.slice(start, reader.at);
    if (reader.text[reader.at] === '"') {
      reader.at += 1;
      return value.isWellFormed()
        ? value
        : fail(reader, "lone_surrogate", "a string holds half of a surrogate pair, which is not Unicode");
    }
    const escaped = readEscape(reader);
    if (escaped === FAILED) {
      return FAILED;
    }
    value += escaped;
  }
}

/** False for a quote, a backslash, a control character and the end of the text (NaN). */
function isPlainCharacter(unit: number): boolean {
  return unit >= 0x20 && unit !== 0x22 && unit !== 0x5c;
}

function readEscape(reader: Reader): Read<string> {
  if (reader.text[reader.at] !== "\\") {
    return unexpected(reader, "the closing quote of a string");
  }
  reader.at += 1;
  const letter = reader.text[reader.at] ?? "";
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) {
    reader.at += 1;
    return simple;
  }
  const hex = reader.text.slice(reader.at + 1, reader.at + 5);
  if (letter !== "u" || !/^[0-9a-fA-F]{4}$/.test(hex)) {
    return unexpected(reader, "an escape such as \\n or \\u0041");
  }
  reader.at += 5;
  return String.fromCharCode(Number.parseInt(hex, 16));
}

function readNumber(reader: Reader): Read<number> {
  const pattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
  pattern.lastIndex = reader.at;
  const token = pattern.exec(reader.text)?.[0];
  if (token === undefined) {
    return unexpected(reader, "a JSON value");
  }
  reader.at += token.length;
  const value = Number(token);
  const refusal = numberProblem(value, token);
  // Adding 0 turns -0 into 0.
  return refusal === undefined ? value + 0 : fail(reader, refusal.code, refusal.message);
}

/** What is wrong with a number, also one that was parsed by somebody else; `token` is how it was written. */
export function numberProblem(
  value: number,
  token: string,
): { readonly code: StrictJsonCode; readonly message: string } | undefined {
  if (!Number.isFinite(value)) {
    return { code: "not_finite", message: `the number ${printable(token, 40)} is not finite` };
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const message = `the integer ${printable(token, 40)} is beyond 2^53-1 and would lose digits; send it as a string`;
    return { code: "unsafe_integer", message };
  }
  return undefined;
}

function readWord<Value extends JsonValue>(reader: Reader, word: string, value: Value): Read<Value> {
  if (!reader.text.startsWith(word, reader.at)) {
    return unexpected(reader, "a JSON value");
  }
  reader.at += word.length;
  return value;
}

function take(reader: Reader, character: string): boolean {
  skipBlank(reader);
  if (reader.text[reader.at] !== character) {
    return false;
  }
  reader.at += 1;
  return true;
}

function skipBlank(reader: Reader): void {
  for (;;) {
    const unit = reader.text.charCodeAt(reader.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) {
      return;
    }
    reader.at += 1;
  }
}

function unexpected(reader: Reader, expected: string): typeof FAILED {
  const found = reader.text.codePointAt(reader.at);
  const shown = found === undefined ? "the text ends" : `found "${printable(String.fromCodePoint(found))}"`;
  const message = `the text is not valid JSON: ${shown} at character ${reader.at + 1}, expected ${expected}`;
  return fail(reader, "invalid_json", message);
}

function fail(reader: Reader, code: StrictJsonCode, message: string): typeof FAILED {
  reader.problem = { code, message };
  return FAILED;
}
