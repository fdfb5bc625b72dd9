import { argsHash } from "../tool/index.ts";
import type { ApprovalRow } from "./store.ts";

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
