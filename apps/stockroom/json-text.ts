import type { JsonValue } from "belay-harness";

/**
 * JSON text with a space after each comma and colon, as the source serialises what it measures.
 */
export function spacedJson(value: JsonValue): string {
  if (Array.isArray(value)) {
    return `[${value.map((item: JsonValue) => spacedJson(item)).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${spacedJson(field)}`);
    return `{${fields.join(", ")}}`;
  }
  return JSON.stringify(value);
}
