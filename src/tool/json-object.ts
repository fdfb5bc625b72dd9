import type { JsonValue } from "../core/index.ts";

export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
