import type { JsonValue } from "../../core/index.ts";

/** A value of the same kind that is not equal; what has no kind of its own becomes a text. */
export function otherValue(value: JsonValue): JsonValue {
  if (typeof value === "number") {
    // Adding one to a very large number may give the same number.
    return Number.isSafeInteger(value + 1) ? value + 1 : 0;
  }
  if (typeof value === "string") {
    return `${value}x`;
  }
  if (typeof value === "boolean") {
    return !value;
  }
  if (value === null) {
    return "x";
  }
  return Array.isArray(value) ? [...value, "x"] : { ...value, x: nextTo(value) };
}

function nextTo(value: object): JsonValue {
  return "x" in value ? `${JSON.stringify(value.x)}x` : "x";
}
