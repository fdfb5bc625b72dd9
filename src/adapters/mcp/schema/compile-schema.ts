import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Ajv, type ErrorObject, type Options } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { canonicalize, type JsonValue } from "../../../core/index.ts";
import { isJsonObject, ownValue } from "../json-object.ts";
import { cleanSchema } from "./clean-schema.ts";
import { compilePattern } from "./linear-pattern.ts";
import { workProblem } from "./work-bound.ts";

const ISSUES_MAX = 50;

const DIALECTS: ReadonlyMap<string, "2020-12" | "draft-07"> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"],
]);

export interface CompiledSchema {
  readonly ok: true;
  /** The schema as it was compiled and as a model may see it. */
  readonly schema: JsonValue;
  /** What is wrong with a value; empty when nothing is. May throw for a value that is too deep. */
  check(value: JsonValue): readonly StandardSchemaV1.Issue[];
}

export type Compiled = CompiledSchema | { readonly ok: false; readonly reason: string };

/**
 * Makes a check of a JSON Schema that an outsider wrote, or says why it is not used. Never throws.
 *
 * The dialect is that of `$schema`: 2020-12 (also when absent) or draft-07. Numbers are strict, properties are own
 * properties, `format` only tells, nothing is coerced or filled in, and nothing is fetched.
 */
export function compileSchema(schema: unknown): Compiled {
  const cleaned = cleanSchema(schema);
  if (!cleaned.ok) {
    return cleaned;
  }
  const named = ownValue(cleaned.schema, "$schema");
  const dialect = named === undefined ? "2020-12" : DIALECTS.get(String(named).replace(/#$/, ""));
  if (dialect === undefined) {
    return { ok: false, reason: `its dialect ${JSON.stringify(named).slice(0, 120)} is not 2020-12 or draft-07` };
  }
  const problem = workProblem(cleaned.schema);
  if (problem !== undefined) {
    return { ok: false, reason: problem };
  }
  try {
    return compiled(cleaned.schema, dialect);
  } catch (error) {
    const detail = error instanceof Error ? error.message : "";
    return { ok: false, reason: `it cannot be compiled: ${detail.slice(0, 200)}` };
  }
}

let made = 0;

function compiled(schema: JsonValue, dialect: "2020-12" | "draft-07"): CompiledSchema {
  const ajv = compilerOf(dialect);
  made += 1;
  // An address that nobody else can have, so that no schema stands in for another.
  const address = `belay:schema:${made}`;
  const validate = ajv.compile(isJsonObject(schema) ? { ...schema, $id: address } : { $id: address, allOf: [schema] });
  // The compiled function needs it no more, and a long-lived client would gather them.
  ajv.removeSchema(address);
  return {
    ok: true,
    schema,
    check: (value) => (validate(value) === true ? [] : issuesOf(validate.errors ?? [], value)),
  };
}

const compilers = new Map<string, Ajv>();

/** One compiler for each dialect, since making one takes longer than compiling a schema. */
function compilerOf(dialect: "2020-12" | "draft-07"): Ajv {
  const known = compilers.get(dialect);
  if (known !== undefined) {
    return known;
  }
  const ajv = dialect === "2020-12" ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  // The built-in one compares every pair of items.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", compile: uniqueItems });
  compilers.set(dialect, ajv);
  return ajv;
}

const regExp = Object.assign((pattern: string) => compilePattern(pattern), {
  // Only read when code is written to a file, which never happens here.
  code: "undefined",
});

const OPTIONS: Options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  validateFormats: false,
  allErrors: true,
  inlineRefs: false,
  logger: false,
  code: { regExp },
};

function uniqueItems(isAsked: boolean): (items: readonly JsonValue[]) => boolean {
  return (items) => {
    if (!isAsked) {
      return true;
    }
    const seen = new Set<string>();
    for (const item of items) {
      const canonical = canonicalize(item);
      seen.add(canonical.ok ? canonical.text : JSON.stringify(item));
    }
    return seen.size === items.length;
  };
}

function issuesOf(errors: readonly ErrorObject[], value: JsonValue): readonly StandardSchemaV1.Issue[] {
  const composites = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  // Of alternatives that all failed, the one sentence about them says more than the sum of their complaints.
  const told = errors.filter(({ schemaPath }) =>
    composites.every((composite) => !schemaPath.startsWith(`${composite.schemaPath}/`)),
  );
  const issues = told.slice(0, ISSUES_MAX).map((error) => issueOf(error, value));
  return issues.length > 0 ? issues : [{ message: "is not valid" }];
}

function issueOf({ instancePath, keyword, params, message }: ErrorObject, value: JsonValue): StandardSchemaV1.Issue {
  const path = pathOf(instancePath, value);
  const missing: unknown = keyword === "required" ? ownValue(params, "missingProperty") : undefined;
  return {
    message: message ?? `fails ${keyword}`,
    path: typeof missing === "string" ? [...path, missing] : path,
  };
}

function pathOf(instancePath: string, value: JsonValue): readonly (string | number)[] {
  let container: unknown = value;
  return instancePath
    .split("/")
    .slice(1)
    .map((part) => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const step = Array.isArray(container) ? Number(key) : key;
      container = ownValue(container, key);
      return step;
    });
}
