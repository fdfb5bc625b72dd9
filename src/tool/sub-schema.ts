import type { JsonValue } from "../core/index.ts";
import type { JsonObject } from "./json-object.ts";

/** Not the one that the rest imports: a module used on both sides would be cut out of the root entry. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own property and nothing inherited, so that `toString` or `constructor` is never found by accident. */
export function ownProperty(value: JsonValue | undefined, key: string | number): JsonValue | undefined {
  if (Array.isArray(value)) {
    return typeof key === "number" ? value[key] : undefined;
  }
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[String(key)] : undefined;
}

/** The part of a JSON Schema that speaks about a path; `undefined` where alternatives make that unclear. */
export function subSchemaAt(schema: JsonValue, steps: readonly (string | number)[]): JsonObject | undefined {
  let current = dereference(schema, schema);
  for (const step of steps) {
    const next = typeof step === "number" ? itemSchema(current, step) : propertySchema(current, step);
    current = dereference(schema, next);
  }
  return isJsonObject(current) ? current : undefined;
}

function propertySchema(schema: JsonValue | undefined, key: string): JsonValue | undefined {
  return ownProperty(ownProperty(schema, "properties"), key) ?? ownProperty(schema, "additionalProperties");
}

function itemSchema(schema: JsonValue | undefined, index: number): JsonValue | undefined {
  return ownProperty(ownProperty(schema, "prefixItems"), index) ?? ownProperty(schema, "items");
}

function dereference(root: JsonValue, schema: JsonValue | undefined): JsonValue | undefined {
  let current = schema;
  // A reference may lead to another one, and a circle of them must end.
  for (let hops = 0; hops < 8; hops += 1) {
    const reference = ownProperty(current, "$ref");
    if (typeof reference !== "string") {
      return current;
    }
    if (!reference.startsWith("#")) {
      return undefined;
    }
    current = reference
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<JsonValue | undefined>((inside, part) => ownProperty(inside, part), root);
  }
  return undefined;
}

const EXPECTED_CHARACTERS_MAX = 600;

/** A sub-schema small enough for a message: of a large one only its short keywords. */
export function boundedSchema(schema: JsonObject): JsonObject {
  if (JSON.stringify(schema).length <= EXPECTED_CHARACTERS_MAX) {
    return schema;
  }
  let charactersLeft = EXPECTED_CHARACTERS_MAX;
  const short = Object.entries(schema).filter(([key, value]) => {
    const characters = key.length + JSON.stringify(value).length;
    const fits = characters <= Math.min(charactersLeft, 200);
    charactersLeft -= fits ? characters : 0;
    return fits;
  });
  return Object.fromEntries(short);
}
