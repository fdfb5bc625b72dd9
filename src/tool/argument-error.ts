import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonValue, printable, renderPath, ToolError } from "../core/index.ts";
import { problemBySchema, typeOf } from "./argument-problem.ts";
import type { JsonObject } from "./json-object.ts";
import { isSecretPath, showValue, visible } from "./show-value.ts";
import { boundedSchema, isJsonObject, ownProperty, subSchemaAt } from "./sub-schema.ts";

type Steps = readonly (string | number)[];

/**
 * How names and places are written. They are handed in and not imported: this module is loaded for the first refusal, and
 * what it shared with the root entry would be cut out of that as a piece of its own.
 */
export interface Writing {
  readonly printable: typeof printable;
  readonly renderPath: typeof renderPath;
}

interface ArgumentIssue {
  /** Unexpected arguments are told first, then missing ones. */
  readonly rank: 0 | 1 | 2;
  readonly text: string;
  readonly details: JsonObject;
}

const ISSUES_MAX = 5;

/**
 * Turns the issues of a schema into one error that tells the model where it went wrong and how to mend it.
 *
 * `details` has `path`, `problem`, `received`, `expected` (the schema at that place) and `hint` of the first issue and
 * `more` with up to four others.
 */
export function invalidArguments(
  writing: Writing,
  schema: JsonValue,
  args: JsonValue,
  issues: readonly StandardSchemaV1.Issue[],
): ToolError {
  const told = issues.map((issue) => describe(writing, schema, args, stepsOf(issue), issue.message));
  return argumentError(told.toSorted((left, right) => left.rank - right.rank));
}

/** The error for arguments that the tool does not declare; paths such as `note` or `items[0].note`. */
export function unexpectedArguments(writing: Writing, paths: readonly string[]): ToolError {
  return argumentError([unexpected(writing, [], paths, undefined)]);
}

export function missingArgument(writing: Writing, schema: JsonValue, key: string): ToolError {
  return argumentError([missing(writing, [key], subSchemaAt(schema, [key]))]);
}

export function notAnObject({ renderPath }: Writing, args: JsonValue): ToolError {
  const problem = `arguments must be a JSON object, got ${typeOf(args)}`;
  const hint = "Send the arguments as one JSON object.";
  return argumentError([
    { rank: 2, text: problem, details: { path: renderPath([]), problem, received: showValue(args, 200), hint } },
  ]);
}

function argumentError(issues: readonly ArgumentIssue[]): ToolError {
  const [first, ...others] = issues.slice(0, ISSUES_MAX);
  const left = issues.length - ISSUES_MAX;
  const texts = issues.slice(0, ISSUES_MAX).map((issue) => issue.text);
  const message = left > 0 ? `${texts.join("; ")}; and ${left} more` : texts.join("; ");
  const more = others.length === 0 ? {} : { more: others.map((issue) => issue.details) };
  return { code: "invalid_arguments", message, retryable: false, details: { ...first?.details, ...more } };
}

function describe(writing: Writing, schema: JsonValue, args: JsonValue, steps: Steps, message: string): ArgumentIssue {
  const expected = subSchemaAt(schema, steps);
  const received = steps.reduce<JsonValue | undefined>(ownProperty, args);
  if (received === undefined) {
    return missing(writing, steps, expected);
  }
  const undeclared = undeclaredKeys(expected, received);
  if (undeclared.length > 0) {
    return unexpected(writing, steps, undeclared, expected);
  }
  const secret = isSecretPath(steps);
  const shown = secret ? "the value" : showValue(received, 80);
  const problem = `${shown} ${problemBySchema(expected ?? {}, received) ?? inWordsOfSchema(expected, message, secret)}`;
  const hint = hintFor(expected, received);
  const receivedShown = secret ? "[redacted]" : showValue(received, 200);
  const path = writing.renderPath(steps);
  return {
    rank: 2,
    text: `${path}: ${problem}`,
    details: { path, problem, received: receivedShown, ...expectedOf(expected), hint },
  };
}

/** The schema's own message is written by the application; it may quote the value, so not for a secret. */
function inWordsOfSchema(expected: JsonObject | undefined, message: string, secret: boolean): string {
  const pattern = expected?.["pattern"];
  if (typeof pattern === "string" && message.includes(pattern)) {
    return `does not match ${visible(pattern, 120)}`;
  }
  return secret || message === "" ? "is not valid" : `is not valid: ${visible(message, 200)}`;
}

function missing({ printable, renderPath }: Writing, steps: Steps, expected: JsonObject | undefined): ArgumentIssue {
  const key = steps.at(-1);
  const name = typeof key === "string" ? printable(key, 64) : renderPath(steps);
  const problem = `missing argument ${name}`;
  const text = steps.length > 1 ? `${renderPath(steps.slice(0, -1))}: ${problem}` : problem;
  const hint = "Add it and send the whole call again.";
  return { rank: 1, text, details: { path: renderPath(steps), problem, ...expectedOf(expected), hint } };
}

function unexpected(
  { printable, renderPath }: Writing,
  steps: Steps,
  names: readonly string[],
  expected: JsonObject | undefined,
): ArgumentIssue {
  const shown = names
    .toSorted()
    .slice(0, 10)
    .map((name) => printable(name, 64));
  const problem = `unexpected argument(s): ${shown.join(", ")}${names.length > shown.length ? ", ..." : ""}`;
  const text = steps.length > 0 ? `${renderPath(steps)}: ${problem}` : problem;
  const properties = expected?.["properties"];
  const declared = isJsonObject(properties) ? Object.keys(properties) : [];
  const known = declared.length === 0 ? "" : ` Declared: ${visible(declared.join(", "), 200)}.`;
  const hint = `Leave out what the tool does not declare.${known}`;
  return { rank: 0, text, details: { path: renderPath(steps), problem, hint } };
}

function undeclaredKeys(expected: JsonObject | undefined, received: JsonValue): readonly string[] {
  if (expected?.["additionalProperties"] !== false || !isJsonObject(received)) {
    return [];
  }
  const properties = expected["properties"];
  return Object.keys(received).filter((key) => ownProperty(properties, key) === undefined);
}

function hintFor(expected: JsonObject | undefined, received: JsonValue): string {
  const type = expected?.["type"];
  const wantsNumber = type === "integer" || type === "number";
  return wantsNumber && typeof received === "string"
    ? `Send ${type === "integer" ? "a whole number" : "a number"} without quotes.`
    : "Correct this argument and send the whole call again.";
}

function expectedOf(expected: JsonObject | undefined): JsonObject {
  return expected === undefined ? {} : { expected: boundedSchema(expected) };
}

function stepsOf(issue: StandardSchemaV1.Issue): Steps {
  return (issue.path ?? []).map((segment) => {
    const key = typeof segment === "object" ? segment.key : segment;
    return typeof key === "symbol" ? String(key) : key;
  });
}
