import { type AuditEntry, appendLeaf, createAuditEntry, type Frontier } from "../audit/index.ts";
import { auditRecordOf } from "./audit-record.ts";
import type { PreparedCommit } from "./prepare-commit.ts";
import type { ProjectedCommit } from "./project-commit.ts";

export interface AppendedRecord extends AuditEntry {
  /** Event of the run that the record was made from. */
  readonly runSeq: number;
}

/** Makes the audit records of a commit and gives them their places in the tree; writes nothing. */
export function appendRecords(
  before: Frontier,
  { run, head, entries }: PreparedCommit,
  { changes, places }: Extract<ProjectedCommit, { readonly status: "projected" }>,
): { readonly frontier: Frontier; readonly records: readonly AppendedRecord[] } {
  const { principal } = changes.run.row;
  const records: AppendedRecord[] = [];
  let frontier = before;
  for (const [index, place] of places.entries()) {
    const entry = entries[index];
    const runSeq = head + index + 1;
    const record = entry && auditRecordOf({ run, seq: runSeq, entry, eventHash: entry.textHash, principal, ...place });
    if (record !== undefined) {
      const { seq, text, leaf } = createAuditEntry(frontier.size, record);
      frontier = appendLeaf(frontier, leaf);
      records.push({ seq, text, leaf, runSeq });
    }
  }
  return { frontier, records };
}
