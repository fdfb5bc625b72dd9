import { hash } from "node:crypto";
import { canonicalJson } from "../audit/index.ts";
import type { JsonValue } from "../core/index.ts";
import type { ApprovalRow } from "./store.ts";

/** SHA-256 in hex over the canonical JSON of tool and arguments: what a person's answer is bound to. */
export function argsHash(tool: string, args: JsonValue): string {
  return hash("sha256", canonicalJson({ tool, args }));
}

/**
 * Whether an inbox line still shows the call that the question was asked about.
 *
 * The line is a copy for people; the hash is what their answer is bound to. False for a line whose tool or arguments
 * were edited in the file: nobody may be shown it as the question, and nobody may answer it.
 */
export function approvalIsIntact(row: Pick<ApprovalRow, "tool" | "args" | "argsHash">): boolean {
  try {
    return argsHash(row.tool, row.args) === row.argsHash;
  } catch {
    return false;
  }
}
