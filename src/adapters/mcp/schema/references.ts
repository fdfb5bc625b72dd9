import type { JsonValue } from "../../../core/index.ts";
import { isJsonObject, ownValue } from "../json-object.ts";
import { ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS } from "./keywords.ts";

/** Finds what a `$ref` of a schema means; `undefined` when it leads nowhere. */
export type ResolveReference = (reference: string) => JsonValue | undefined;

/** Makes the resolver of one cleaned schema, whose references are `#`, `#/pointer` or `#anchor`. */
export function createResolver(root: JsonValue): ResolveReference {
  const anchors = new Map<string, JsonValue>();
  collectAnchors(root, anchors);
  return (reference) => {
    const fragment = reference.slice(1);
    if (fragment === "") {
      return root;
    }
    return fragment.startsWith("/") ? byPointer(root, fragment) : anchors.get(fragment);
  };
}

function byPointer(root: JsonValue, pointer: string): JsonValue | undefined {
  let found: JsonValue | undefined = root;
  for (const part of pointer.split("/").slice(1)) {
    const key = unescapePointer(part);
    found = key === undefined ? undefined : (ownValue(found, key) as JsonValue | undefined);
  }
  return found;
}

/** `undefined` for a part whose percent signs are broken. */
function unescapePointer(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

function collectAnchors(schema: JsonValue, anchors: Map<string, JsonValue>): void {
  if (!isJsonObject(schema)) {
    return;
  }
  const anchor = schema["$anchor"];
  if (typeof anchor === "string" && !anchors.has(anchor)) {
    anchors.set(anchor, schema);
  }
  for (const inner of subSchemasOf(schema)) {
    collectAnchors(inner, anchors);
  }
}

/** Every subschema that stands directly in a schema, wherever it applies. */
export function subSchemasOf(schema: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(schema)) {
    return [];
  }
  return Object.entries(schema).flatMap(([keyword, value]): readonly JsonValue[] => {
    if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
      return value;
    }
    if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
      return Object.values(value).filter((item) => !Array.isArray(item));
    }
    return ONE_SCHEMA.has(keyword) ? [value] : [];
  });
}
