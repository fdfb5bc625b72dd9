import { type JsonValue, printable } from "../../../core/index.ts";
import { isJsonObject } from "../json-object.ts";
import { ONE_SCHEMA, SCHEMA_LISTS, SCHEMA_MAPS } from "./keywords.ts";
import { createResolver, type ResolveReference, subSchemasOf } from "./references.ts";

/** Deepest value that is ever checked: results may be deeper than arguments. */
const VALUE_DEPTH_MAX = 48;
/** Schema visits along one path through a value. An honest schema needs a few at each level. */
const WORK_MAX = 2_000;

/** What a schema does at one place of a value: how many schemas look at it, and which look at its parts. */
interface Place {
  readonly visits: number;
  readonly byName: ReadonlyMap<string, readonly JsonValue[]>;
  readonly others: readonly JsonValue[];
}

interface Estimate {
  readonly resolve: ResolveReference;
  readonly places: Map<JsonValue, Place>;
  readonly work: Map<JsonValue, number[]>;
}

interface Gathering {
  visits: number;
  readonly byName: Map<string, JsonValue[]>;
  readonly others: JsonValue[];
  readonly open: Set<JsonValue>;
  problem: string | undefined;
}

/**
 * Says why checking a value against a cleaned schema could take for ever, or `undefined` when it cannot.
 *
 * References may multiply: two that lead to the same place, each with two more, are 2^n checks; and a recursive schema
 * with two ways down doubles its work with each level of the value. So the work along one path of a value is added up
 * before anything is compiled, and a reference that comes back to the same place of the value is refused.
 */
export function workProblem(root: JsonValue): string | undefined {
  const estimate: Estimate = { resolve: createResolver(root), places: new Map(), work: new Map() };
  // Each definition is looked at, used or not, so that a broken reference in it is found too.
  for (const schema of everySchema(root)) {
    const place = placeOf(estimate, schema);
    if (typeof place === "string") {
      return place;
    }
  }
  return workOf(estimate, root, VALUE_DEPTH_MAX) > WORK_MAX
    ? `its references and alternatives multiply to more than ${WORK_MAX} checks along one path of a value`
    : undefined;
}

function everySchema(root: JsonValue): readonly JsonValue[] {
  const found: JsonValue[] = [root];
  for (const schema of found) {
    found.push(...subSchemasOf(schema));
  }
  return found;
}

function workOf(estimate: Estimate, schema: JsonValue, depth: number): number {
  if (!isJsonObject(schema) || depth === 0) {
    return 1;
  }
  const known = estimate.work.get(schema) ?? [];
  const seen = known[depth];
  if (seen !== undefined) {
    return seen;
  }
  const place = placeOf(estimate, schema);
  const work = typeof place === "string" ? Number.POSITIVE_INFINITY : workAt(estimate, place, depth);
  known[depth] = work;
  estimate.work.set(schema, known);
  return work;
}

function workAt(estimate: Estimate, place: Place, depth: number): number {
  const sum = (schemas: readonly JsonValue[]): number => {
    let total = 0;
    for (const schema of schemas) {
      total += workOf(estimate, schema, depth - 1);
      if (total > WORK_MAX) {
        break;
      }
    }
    return total;
  };
  let most = 0;
  for (const schemas of place.byName.values()) {
    most = Math.max(most, sum(schemas));
  }
  return place.visits + most + sum(place.others);
}

/** A text says what is wrong. */
function placeOf(estimate: Estimate, schema: JsonValue): Place | string {
  const known = estimate.places.get(schema);
  if (known !== undefined) {
    return known;
  }
  const gathering: Gathering = { visits: 0, byName: new Map(), others: [], open: new Set(), problem: undefined };
  gather(estimate, schema, gathering);
  if (gathering.problem !== undefined) {
    return gathering.problem;
  }
  if (isJsonObject(schema)) {
    estimate.places.set(schema, gathering);
  }
  return gathering;
}

function gather(estimate: Estimate, schema: JsonValue, into: Gathering): void {
  into.visits += 1;
  if (!isJsonObject(schema) || into.problem !== undefined) {
    return;
  }
  if (into.open.has(schema)) {
    into.problem = "a reference in it leads back to itself without going deeper into the value";
    return;
  }
  if (into.visits > WORK_MAX) {
    into.problem = `its references and alternatives multiply to more than ${WORK_MAX} checks of one value`;
    return;
  }
  into.open.add(schema);
  for (const [keyword, value] of Object.entries(schema)) {
    gatherKeyword(estimate, keyword, value, into);
  }
  into.open.delete(schema);
}

function gatherKeyword(estimate: Estimate, keyword: string, value: JsonValue, into: Gathering): void {
  if (keyword === "$ref") {
    gatherReference(estimate, String(value), into);
  } else if (Array.isArray(value)) {
    gatherAll(estimate, SCHEMA_LISTS.get(keyword), value, into);
  } else if (keyword === "properties" && isJsonObject(value)) {
    for (const [name, part] of Object.entries(value)) {
      into.byName.set(name, [...(into.byName.get(name) ?? []), part]);
    }
  } else if (SCHEMA_MAPS.has(keyword) && isJsonObject(value)) {
    gatherAll(estimate, SCHEMA_MAPS.get(keyword), Object.values(value), into);
  } else {
    gatherAll(estimate, ONE_SCHEMA.get(keyword), [value], into);
  }
}

function gatherReference(estimate: Estimate, reference: string, into: Gathering): void {
  const target = estimate.resolve(reference);
  if (target === undefined) {
    into.problem ??= `the reference ${printable(reference, 80)} does not lead to a place in the schema`;
    return;
  }
  gather(estimate, target, into);
}

/** `kind` is absent for a keyword that applies nothing, and `definition` for what only a reference applies. */
function gatherAll(
  estimate: Estimate,
  kind: "in_place" | "part" | "definition" | undefined,
  schemas: readonly JsonValue[],
  into: Gathering,
): void {
  if (kind === "part") {
    into.others.push(...schemas);
  }
  if (kind !== "in_place") {
    return;
  }
  // A list of names in `dependencies` is no schema.
  for (const schema of schemas.filter((item) => !Array.isArray(item))) {
    gather(estimate, schema, into);
  }
}
