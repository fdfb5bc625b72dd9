import { hash } from "node:crypto";
import { canonicalize, type JsonValue } from "../core/index.ts";
import { BelayError } from "../errors.ts";

/**
 * SHA-256 in hex over the canonical JSON of tool and arguments: what a person's answer is bound to.
 *
 * Throws BELAY_CANONICAL_JSON for arguments that JSON cannot hold.
 */
export function argsHash(tool: string, args: JsonValue): string {
  const canonical = canonicalize({ tool, args });
  if (!canonical.ok) {
    const problem = `${canonical.path}: ${canonical.problem}`;
    throw new BelayError(
      "BELAY_CANONICAL_JSON",
      `the arguments of ${tool} cannot be hashed (${problem}); pass plain JSON`,
    );
  }
  return hash("sha256", canonical.text);
}
