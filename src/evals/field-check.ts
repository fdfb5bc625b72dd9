import type { JsonValue } from "../core/index.ts";

/** The first thing that is wrong with a value: where, and what it must be. */
interface FieldProblem {
  readonly path: string;
  readonly problem: string;
}

type Check = (value: JsonValue, path: string) => FieldProblem | undefined;

/** A piece of JSON Schema, draft 2020-12. */
type FieldSchema = { readonly [keyword: string]: JsonValue };

/** What a value must be: told to a program that checks it, and to one that reads JSON Schema. */
export interface Field {
  readonly check: Check;
  readonly schema: FieldSchema;
}

const SHOWN_MAX = 60;

function expected(what: string, schema: FieldSchema, test: (value: JsonValue) => boolean): Field {
  const check: Check = (value, path) =>
    test(value) ? undefined : { path, problem: `must be ${what}, not ${JSON.stringify(value).slice(0, SHOWN_MAX)}` };
  return { check, schema };
}

const isObject = (value: JsonValue): value is { readonly [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const anyJson: Field = { check: () => undefined, schema: {} };
export const text: Field = expected("a text", { type: "string" }, (value) => typeof value === "string");
export const filledText: Field = expected(
  "a text that is not empty",
  { type: "string", minLength: 1 },
  (value) => typeof value === "string" && value !== "",
);
export const flag: Field = expected("true or false", { type: "boolean" }, (value) => typeof value === "boolean");
export const count: Field = expected(
  "a whole number from 0",
  { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
export const amount: Field = expected(
  "a number from 0",
  { type: "number", minimum: 0 },
  (value) => typeof value === "number" && value >= 0,
);
export const object: Field = expected("an object", { type: "object" }, isObject);

export function wholeFrom(least: number, most: number): Field {
  return expected(
    `a whole number from ${least} to ${most}`,
    { type: "integer", minimum: least, maximum: most },
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  );
}

export function oneOf(...values: readonly string[]): Field {
  return expected(
    `one of ${values.join(", ")}`,
    { enum: values },
    (value) => typeof value === "string" && values.includes(value),
  );
}

/** One of several shapes; the first one is what the problem speaks of. */
export function anyOf(first: Field, ...others: readonly Field[]): Field {
  return {
    check: (value, path) =>
      others.some(({ check }) => check(value, path) === undefined) ? undefined : first.check(value, path),
    schema: { anyOf: [first, ...others].map(({ schema }) => schema) },
  };
}

const list = expected("a list", { type: "array" }, (value) => Array.isArray(value));

export function listOf(item: Field): Field {
  return {
    check: (value, path) =>
      Array.isArray(value)
        ? firstProblem(value.map((entry: JsonValue, index) => () => item.check(entry, `${path}[${index}]`)))
        : list.check(value, path),
    schema: { type: "array", items: item.schema },
  };
}

/** An object whose values are all of one kind. */
export function mapOf(value: Field): Field {
  return record({}, {}, value);
}

/** An object with these fields and no other, unless `others` says what they must be. */
export function record(
  required: Readonly<Record<string, Field>>,
  optional: Readonly<Record<string, Field>> = {},
  others?: Field,
): Field {
  const known: Readonly<Record<string, Field>> = { ...required, ...optional };
  const check: Check = (value, path) => {
    if (!isObject(value)) {
      return object.check(value, path);
    }
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) {
      return { path: fieldPath(path, missing), problem: "is missing" };
    }
    return firstProblem(
      Object.entries(value).map(([name, field]) => () => {
        const of = Object.hasOwn(known, name) ? known[name] : others;
        const fieldAt = fieldPath(path, name);
        return of === undefined
          ? { path: fieldAt, problem: `is not a field; there are ${Object.keys(known).join(", ")}` }
          : of.check(field, fieldAt);
      }),
    );
  };
  return {
    check,
    schema: {
      type: "object",
      properties: Object.fromEntries(Object.entries(known).map(([name, { schema }]) => [name, schema])),
      required: Object.keys(required),
      additionalProperties: others === undefined ? false : others.schema,
    },
  };
}

function fieldPath(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function firstProblem(checks: readonly (() => FieldProblem | undefined)[]): FieldProblem | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
