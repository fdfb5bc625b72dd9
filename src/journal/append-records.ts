import { type AuditEntry, appendLeaf, type Frontier, leafHash } from "../audit/index.ts";
import { canonicalizeChecked, type JsonValue } from "../core/index.ts";
import { auditRecordOf } from "./audit-record.ts";
import type { PreparedCommit } from "./prepare-commit.ts";
import type { ProjectedCommit } from "./project-commit.ts";

/** An audit record that has no place in the tree yet. */
export interface UnplacedRecord extends Omit<AuditEntry, "seq"> {
  /** Event of the run that the record was made from. */
  readonly runSeq: number;
}

export interface AppendedRecord extends AuditEntry, UnplacedRecord {}

type Projected = Extract<ProjectedCommit, { readonly status: "projected" }>;

/** Makes the audit records of a commit, in the order of its events. */
export function unplacedRecords(
  { run, head, entries }: PreparedCommit,
  { changes, places }: Projected,
): readonly UnplacedRecord[] {
  const { principal } = changes.run.row;
  const records: UnplacedRecord[] = [];
  for (const [index, place] of places.entries()) {
    const entry = entries[index];
    const runSeq = head + index + 1;
    const record = entry && auditRecordOf({ run, seq: runSeq, entry, eventHash: entry.textHash, principal, ...place });
    if (record !== undefined) {
      // Its parts come from an event that was encoded already.
      const text = canonicalizeChecked(record as JsonValue);
      records.push({ text, leaf: leafHash(text), runSeq });
    }
  }
  return records;
}

/** Makes the audit records of a commit and gives them their places in the tree; writes nothing. */
export function appendRecords(
  before: Frontier,
  commit: PreparedCommit,
  projected: Projected,
): { readonly frontier: Frontier; readonly records: readonly AppendedRecord[] } {
  const records: AppendedRecord[] = [];
  let frontier = before;
  for (const { text, leaf, runSeq } of unplacedRecords(commit, projected)) {
    records.push({ seq: frontier.size, text, leaf, runSeq });
    frontier = appendLeaf(frontier, leaf);
  }
  return { frontier, records };
}
