import { checkJsonValue, type JsonValue, printable } from "../../../core/index.ts";
import { cleanTexts, hasInvisible, hasInvisibleAnywhere } from "../clean-text.ts";
import { isJsonObject, ownValue } from "../json-object.ts";
import { ANNOTATIONS, ONE_SCHEMA, PLAIN_KEYWORDS, SCHEMA_LISTS, SCHEMA_MAPS } from "./keywords.ts";
import { patternProblem } from "./linear-pattern.ts";

const CHARACTERS_MAX = 64_000;
const DEPTH_MAX = 40;
const BRANCHES_MAX = 200;
const ANNOTATION_CHARACTERS_MAX = 1_000;

export type Cleaned =
  | { readonly ok: true; readonly schema: JsonValue }
  | { readonly ok: false; readonly reason: string };

interface Cleaner {
  /** The schema's own address, which a reference in it may use. */
  readonly id: string | undefined;
  /** Subschemas of `allOf`, `anyOf` and `oneOf` so far. */
  branches: number;
  problem: string | undefined;
}

/**
 * Copies the schema of a server that nobody vouches for, so that it can be compiled and shown to a model.
 *
 * Known keywords alone are kept, references lose the schema's own address, texts are cleaned of what people cannot see, and whatever a check could be led astray
 * with is a reason to refuse: size, depth, composition, references that leave the schema, other base addresses,
 * patterns that cannot be matched in linear time. Never throws.
 */
export function cleanSchema(schema: unknown): Cleaned {
  const checked = checkJsonValue(schema, { depthMax: DEPTH_MAX, charactersMax: CHARACTERS_MAX });
  if (!checked.ok) {
    return { ok: false, reason: `the schema is refused at ${checked.path}: ${checked.message}` };
  }
  const id = ownValue(checked.value, "$id");
  const cleaner: Cleaner = {
    id: typeof id === "string" ? id.split("#")[0] : undefined,
    branches: 0,
    problem: undefined,
  };
  const cleaned = cleanOne(cleaner, checked.value, true);
  return cleaner.problem === undefined ? { ok: true, schema: cleaned } : { ok: false, reason: cleaner.problem };
}

function refuse(cleaner: Cleaner, reason: string): void {
  cleaner.problem ??= reason;
}

function cleanOne(cleaner: Cleaner, schema: JsonValue, isRoot: boolean): JsonValue {
  if (typeof schema === "boolean") {
    return schema;
  }
  if (!isJsonObject(schema)) {
    refuse(cleaner, "a schema in it is neither an object nor a boolean");
    return false;
  }
  const copy: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const cleaned = cleanKeyword(cleaner, keyword, value, isRoot);
    if (cleaned !== undefined) {
      copy[keyword] = cleaned;
    }
  }
  return copy;
}

/** `undefined` for a keyword that is not known: no check would look at it, and a model should not read it. */
function cleanKeyword(cleaner: Cleaner, keyword: string, value: JsonValue, isRoot: boolean): JsonValue | undefined {
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
    countBranches(cleaner, keyword, value.length);
    return value.map((item: JsonValue) => cleanOne(cleaner, item, false));
  }
  if (ONE_SCHEMA.has(keyword)) {
    return cleanOne(cleaner, value, false);
  }
  if (SCHEMA_MAPS.has(keyword)) {
    return cleanMap(cleaner, keyword, value);
  }
  if (ANNOTATIONS.has(keyword)) {
    return cleanTexts(value, ANNOTATION_CHARACTERS_MAX);
  }
  if (keyword === "$ref") {
    return localReference(cleaner, value);
  }
  if (keyword === "$id" && isRoot) {
    return undefined;
  }
  if (PLAIN_KEYWORDS.has(keyword)) {
    refusePlain(cleaner, keyword, value, isRoot);
    return value;
  }
  if (keyword === "$dynamicRef" || keyword === "$recursiveRef") {
    refuse(cleaner, `${keyword} is not supported`);
  }
  return undefined;
}

/** The reference without the schema's own address, so that the address is not needed any more. */
function localReference(cleaner: Cleaner, reference: JsonValue): JsonValue {
  const [base = "", ...fragments] = typeof reference === "string" ? reference.split("#") : [];
  if (typeof reference !== "string" || fragments.length > 1 || (base !== "" && base !== cleaner.id)) {
    refuse(cleaner, `the reference ${printable(String(reference), 80)} leaves the schema; nothing is fetched`);
  }
  return `#${fragments[0] ?? ""}`;
}

function cleanMap(cleaner: Cleaner, keyword: string, value: JsonValue): JsonValue | undefined {
  if (!isJsonObject(value)) {
    refuse(cleaner, `${keyword} is not an object`);
    return undefined;
  }
  const copy: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) {
    if (hasInvisible(name)) {
      refuse(cleaner, `a name in ${keyword} holds invisible characters`);
    }
    if (keyword === "patternProperties") {
      refusePattern(cleaner, name);
    }
    // Before 2019 `dependencies` held lists of names too.
    copy[name] = keyword === "dependencies" && Array.isArray(item) ? item : cleanOne(cleaner, item, false);
  }
  return copy;
}

function countBranches(cleaner: Cleaner, keyword: string, count: number): void {
  cleaner.branches += keyword === "prefixItems" || keyword === "items" ? 0 : count;
  if (cleaner.branches > BRANCHES_MAX) {
    refuse(cleaner, `more than ${BRANCHES_MAX} alternatives in allOf, anyOf and oneOf`);
  }
}

function refusePlain(cleaner: Cleaner, keyword: string, value: JsonValue, isRoot: boolean): void {
  if (hasInvisibleAnywhere(value)) {
    refuse(cleaner, `${keyword} holds invisible characters`);
  }
  if ((keyword === "$id" || keyword === "$schema") && !isRoot) {
    refuse(cleaner, `${keyword} inside the schema would change what references mean`);
  }
  if (keyword === "pattern") {
    refusePattern(cleaner, value);
  }
}

function refusePattern(cleaner: Cleaner, pattern: JsonValue): void {
  const problem = typeof pattern === "string" ? patternProblem(pattern) : "it is no text";
  if (problem !== undefined) {
    refuse(cleaner, `the pattern ${printable(String(pattern), 80)} cannot be checked in linear time: ${problem}`);
  }
}
