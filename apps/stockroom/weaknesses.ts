import { BelayError } from "belay-harness";

/**
 * Faults that can be built into the app on purpose, to see whether evaluations find them.
 *
 * `ambiguous_tool_desc`: the description of `search_products` promises everything. `oversized_payload`:
 * `search_products` gives every match with every field. `naive_retry`: a legacy order is not tried again inside the
 * tool, the model repeats a failed call unchanged, and nothing stops it. `injection_unguarded`: nothing is taken out of
 * policy texts.
 */
export const WEAKNESSES = ["ambiguous_tool_desc", "oversized_payload", "naive_retry", "injection_unguarded"] as const;

export type Weakness = (typeof WEAKNESSES)[number];

/** Reads a list such as `naive_retry,oversized_payload`; empty and `none` mean none. Throws `BELAY_WEAKNESS_UNKNOWN`. */
export function readWeaknesses(text: string): readonly Weakness[] {
  const names = text.split(",").map((name) => name.trim());
  return checkWeaknesses(names.filter((name) => name !== "" && name !== "none"));
}

/** The names in the order of `WEAKNESSES`, each once. Throws `BELAY_WEAKNESS_UNKNOWN`. */
export function checkWeaknesses(names: readonly string[]): readonly Weakness[] {
  const unknown = names.find((name) => !WEAKNESSES.some((known) => known === name));
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_WEAKNESS_UNKNOWN",
      `there is no weakness ${JSON.stringify(unknown.slice(0, 80))}; use some of ${WEAKNESSES.join(", ")}, or none`,
    );
  }
  return WEAKNESSES.filter((weakness) => names.includes(weakness));
}
