import type { JsonValue } from "../core/index.ts";
import type { JsonObject } from "./json-object.ts";
import { showValue } from "./show-value.ts";
import { isJsonObject } from "./sub-schema.ts";

type Check = (bound: JsonValue, value: JsonValue) => string | undefined;

/** By JSON Schema keyword, in the order in which a reader wants to hear of them. */
const CHECKS: readonly (readonly [string, Check])[] = [
  ["type", (type, value) => (hasType(type, value) ? undefined : `is not ${typeNames(type)}`)],
  ["enum", (values, value) => (includes(values, value) ? undefined : `is not one of ${list(values)}`)],
  ["const", (constant, value) => (includes([constant], value) ? undefined : `is not ${showValue(constant, 80)}`)],
  ["minimum", (bound, value) => (isLess(value, bound) ? `is less than ${bound}` : undefined)],
  ["maximum", (bound, value) => (isLess(bound, value) ? `is more than ${bound}` : undefined)],
  ["exclusiveMinimum", (bound, value) => (isLess(bound, value) ? undefined : `is not more than ${bound}`)],
  ["exclusiveMaximum", (bound, value) => (isLess(value, bound) ? undefined : `is not less than ${bound}`)],
  ["minLength", (bound, value) => (isLess(length(value), bound) ? `is shorter than ${bound} characters` : undefined)],
  ["maxLength", (bound, value) => (isLess(bound, length(value)) ? `is longer than ${bound} characters` : undefined)],
  ["minItems", (bound, value) => (isLess(count(value), bound) ? `has fewer than ${bound} items` : undefined)],
  ["maxItems", (bound, value) => (isLess(bound, count(value)) ? `has more than ${bound} items` : undefined)],
];

/** What is wrong with one value, in the words of its JSON Schema; `undefined` when the schema's keywords cannot tell. */
export function problemBySchema(schema: JsonObject, value: JsonValue): string | undefined {
  for (const [keyword, check] of CHECKS) {
    const bound = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    const problem = bound === undefined ? undefined : check(bound, value);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

export function typeOf(value: JsonValue): string {
  if (value === null) {
    return "null";
  }
  return Array.isArray(value) ? "array" : typeof value;
}

function hasType(type: JsonValue, value: JsonValue): boolean {
  const types: readonly JsonValue[] = Array.isArray(type) ? type : [type];
  return types.some((name) => name === typeOf(value) || (name === "integer" && Number.isInteger(value)));
}

function typeNames(type: JsonValue): string {
  const types: readonly JsonValue[] = Array.isArray(type) ? type : [type];
  return types.map((name) => (/^[aeiou]/.test(String(name)) ? `an ${name}` : `a ${name}`)).join(" or ");
}

function includes(values: JsonValue, value: JsonValue): boolean {
  // Only scalars are compared; an enum of containers is left to the schema's own words.
  return !Array.isArray(values) || values.some((allowed) => allowed === value || isJsonObject(allowed));
}

function list(values: JsonValue): string {
  const shown = Array.isArray(values) ? values.slice(0, 20).map((value: JsonValue) => showValue(value, 40)) : [];
  return shown.join(", ");
}

function isLess(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return typeof left === "number" && typeof right === "number" && left < right;
}

function length(value: JsonValue): number | undefined {
  return typeof value === "string" ? [...value].length : undefined;
}

function count(value: JsonValue): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}
