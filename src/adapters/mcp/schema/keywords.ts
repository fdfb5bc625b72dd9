/** Keywords whose value is one subschema; `inPlace` ones speak about the same value, the others about a part of it. */
export const ONE_SCHEMA: ReadonlyMap<string, "in_place" | "part"> = new Map([
  ["not", "in_place"],
  ["if", "in_place"],
  ["then", "in_place"],
  ["else", "in_place"],
  ["additionalProperties", "part"],
  ["unevaluatedProperties", "part"],
  ["propertyNames", "part"],
  ["items", "part"],
  ["additionalItems", "part"],
  ["unevaluatedItems", "part"],
  ["contains", "part"],
]);

/** Keywords whose value is a list of subschemas; draft-07 writes tuples under `items`. */
export const SCHEMA_LISTS: ReadonlyMap<string, "in_place" | "part"> = new Map([
  ["allOf", "in_place"],
  ["anyOf", "in_place"],
  ["oneOf", "in_place"],
  ["prefixItems", "part"],
  ["items", "part"],
]);

/** Keywords whose value maps names to subschemas. Definitions are applied only where a `$ref` names them. */
export const SCHEMA_MAPS: ReadonlyMap<string, "in_place" | "part" | "definition"> = new Map([
  ["properties", "part"],
  ["patternProperties", "part"],
  ["dependentSchemas", "in_place"],
  ["dependencies", "in_place"],
  ["$defs", "definition"],
  ["definitions", "definition"],
]);

/** Keywords that decide and hold no subschema: kept as they are, or the schema is refused. */
export const PLAIN_KEYWORDS: ReadonlySet<string> = new Set([
  "$anchor",
  "$id",
  "$schema",
  "const",
  "contentEncoding",
  "contentMediaType",
  "dependentRequired",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "maxContains",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minContains",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "pattern",
  "required",
  "type",
  "uniqueItems",
]);

/** Keywords that only tell something: their texts are cleaned, since a model reads them. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "default",
  "deprecated",
  "description",
  "examples",
  "readOnly",
  "title",
  "writeOnly",
]);
