import { type JsonValue, renderPath } from "../core/index.ts";
import { isJsonObject } from "./json-object.ts";

const FOUND_MAX = 20;

/**
 * Paths of everything in the input that the output no longer has.
 *
 * A schema that strips what it does not know would let a person approve less than the model asked for; a change of a
 * value (a default, trimming, a number from a string) is no loss. Bounded by the depth of its arguments.
 */
export function lostKeys(input: JsonValue, output: JsonValue): readonly string[] {
  const lost: string[] = [];
  collect(input, output, [], lost);
  return lost;
}

function collect(input: JsonValue, output: JsonValue, steps: readonly (string | number)[], lost: string[]): void {
  if (lost.length >= FOUND_MAX) {
    return;
  }
  if (Array.isArray(input)) {
    const items: readonly JsonValue[] = Array.isArray(output) ? output : [];
    for (const [index, item] of input.entries()) {
      compare(item, items[index], [...steps, index], lost);
    }
  } else if (isJsonObject(input)) {
    for (const [key, item] of Object.entries(input)) {
      const kept = isJsonObject(output) && Object.hasOwn(output, key) ? output[key] : undefined;
      compare(item, kept, [...steps, key], lost);
    }
  }
}

function compare(
  item: JsonValue,
  kept: JsonValue | undefined,
  steps: readonly (string | number)[],
  lost: string[],
): void {
  if (kept === undefined) {
    lost.push(renderPath(steps));
  } else {
    collect(item, kept, steps, lost);
  }
}
