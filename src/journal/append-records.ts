import { type AuditEntry, appendLeaf, createAuditEntry, type Frontier } from "../audit/index.ts";
import type { Principal } from "../core/index.ts";
import { auditRecordOf } from "./audit-record.ts";
import type { PreparedCommit } from "./prepare-commit.ts";

export interface AppendedRecord extends AuditEntry {
  /** Event of the run that the record was made from. */
  readonly runSeq: number;
}

/** Makes the audit records of a commit and gives them their places in the tree; writes nothing. */
export function appendRecords(
  before: Frontier,
  { run, head, entries }: PreparedCommit,
  principal: Principal,
): { readonly frontier: Frontier; readonly records: readonly AppendedRecord[] } {
  const records: AppendedRecord[] = [];
  let frontier = before;
  for (const [index, entry] of entries.entries()) {
    const runSeq = head + index + 1;
    const record = auditRecordOf({ run, seq: runSeq, entry, text: entry.text, principal });
    if (record !== undefined) {
      const { seq, text, leaf } = createAuditEntry(frontier.size, record);
      frontier = appendLeaf(frontier, leaf);
      records.push({ seq, text, leaf, runSeq });
    }
  }
  return { frontier, records };
}
