import type { JsonValue } from "../core/index.ts";

/** The first thing that is wrong with a value: where, and what it must be. */
interface FieldProblem {
  readonly path: string;
  readonly problem: string;
}

export type Check = (value: JsonValue, path: string) => FieldProblem | undefined;

const SHOWN_MAX = 60;

function expected(what: string, test: (value: JsonValue) => boolean): Check {
  return (value, path) =>
    test(value) ? undefined : { path, problem: `must be ${what}, not ${JSON.stringify(value).slice(0, SHOWN_MAX)}` };
}

export const anyJson: Check = () => undefined;
export const text: Check = expected("a text", (value) => typeof value === "string");
export const filledText: Check = expected(
  "a text that is not empty",
  (value) => typeof value === "string" && value !== "",
);
export const flag: Check = expected("true or false", (value) => typeof value === "boolean");
export const count: Check = expected(
  "a whole number from 0",
  (value) => Number.isSafeInteger(value) && Number(value) >= 0,
);
export const amount: Check = expected("a number from 0", (value) => typeof value === "number" && value >= 0);
const isObject = (value: JsonValue): value is { readonly [key: string]: JsonValue } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const object: Check = expected("an object", isObject);

export function oneOf(...values: readonly string[]): Check {
  return expected(`one of ${values.join(", ")}`, (value) => typeof value === "string" && values.includes(value));
}

export function listOf(item: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) {
      return expected("a list", () => false)(value, path);
    }
    return firstProblem(value.map((entry: JsonValue, index) => () => item(entry, `${path}[${index}]`)));
  };
}

/** An object with these fields and no other, unless `others` says what they must be. */
export function record(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>> = {},
  others?: Check,
): Check {
  return (value, path) => {
    if (!isObject(value)) {
      return object(value, path);
    }
    const missing = Object.keys(required).find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) {
      return { path: fieldPath(path, missing), problem: "is missing" };
    }
    const known: Readonly<Record<string, Check>> = { ...required, ...optional };
    return firstProblem(
      Object.entries(value).map(([name, field]) => () => {
        const check = Object.hasOwn(known, name) ? known[name] : others;
        const fieldAt = fieldPath(path, name);
        return check === undefined
          ? { path: fieldAt, problem: `is not a field; there are ${Object.keys(known).join(", ")}` }
          : check(field, fieldAt);
      }),
    );
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
