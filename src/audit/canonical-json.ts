import { canonicalize } from "../core/index.ts";
import { BelayError } from "../errors.ts";

/**
 * Encodes a value as canonical JSON, so that equal values have equal bytes and equal hashes (RFC 8785).
 *
 * Throws `BELAY_CANONICAL_JSON`, with the path, for anything that JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  const result = canonicalize(value);
  if (!result.ok) {
    throw new BelayError(
      "BELAY_CANONICAL_JSON",
      `The value at ${result.path} cannot become canonical JSON: ${result.problem}. ` +
        "Pass plain objects, arrays, well-formed strings, finite numbers, booleans and null only.",
    );
  }
  return result.text;
}
