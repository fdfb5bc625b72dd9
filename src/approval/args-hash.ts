import { createHash } from "node:crypto";
import { canonicalJson } from "../audit/index.ts";
import type { JsonValue } from "../core/index.ts";

/** SHA-256 in hex over the canonical JSON of tool and arguments: what a person's answer is bound to. */
export function argsHash(tool: string, args: JsonValue): string {
  return createHash("sha256").update(canonicalJson({ tool, args })).digest("hex");
}
