import type { Filter, JsonValue } from "belay-harness";

/** Key of a result under which a tool says what happened inside it. */
export const INTERNAL = "_internal";

/**
 * Keeps what a tool says about its own attempts from the model, and notes it with the call for traces.
 *
 * The note of a legacy order is `{ attempts: 2, first_error: "transient" }`.
 */
export function internalFields(): Filter {
  return {
    id: "internal_fields",
    apply(value) {
      if (!isObject(value) || !Object.hasOwn(value, INTERNAL)) {
        return { value };
      }
      const { [INTERNAL]: note = null, ...rest } = value;
      return { value: rest, note };
    },
  };
}

function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
