import { BelayError } from "../../errors.ts";
import {
  type AppendedRecord,
  appendRecords,
  type CommitResult,
  checkClock,
  type PreparedCommit,
  type ProjectionView,
  projectCommit,
  type RunKey,
  type RunProjection,
  toRunProjection,
} from "../../journal/index.ts";
import { writeChanges } from "./projection-tables.ts";
import type { SqliteHandle, WriteSession } from "./sqlite-handle.ts";

/** One commit inside the transaction of its group: journal, projections and audit log, or nothing. */
export function writeCommit(
  handle: SqliteHandle,
  view: ProjectionView,
  session: WriteSession,
  commit: PreparedCommit,
  clockToleranceMs: number,
): CommitResult {
  const { run, entries } = commit;
  const { head, before } = readStored(handle, run, commit.head);
  if (head !== commit.head) {
    return { status: "conflict", head };
  }
  if (head > 0 && before === undefined) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `The run index of ${handle.path} has lost run ${run.runId}; the journal still has it. ` +
        "Rebuild the index with belay doctor --rebuild, or with rebuildProjections().",
    );
  }
  const noted = session.tree.newestAt;
  const newestAt = checkClock(commit, noted, clockToleranceMs, () => newestInJournal(handle, noted));
  // Read above, and nothing of this transaction has changed it since.
  const projected = projectCommit({ ...view, run: () => before }, run, head, entries);
  if (projected.status === "refused") {
    return projected;
  }
  const { frontier, records } = appendRecords(session.tree.frontier, commit, projected);
  writeJournal(handle, commit);
  writeChanges(handle, run, projected.changes, before);
  writeRecords(handle, run, records);
  // Last, because a failure above takes back the rows and not this.
  session.setTree({ frontier, newestAt });
  return { status: "committed", head: head + entries.length };
}

/** The run's line and its head; of the head the journal itself decides, not the index that is derived from it. */
function readStored(
  handle: SqliteHandle,
  { tenant, runId }: RunKey,
  expectedHead: number,
): { readonly head: number; readonly before: RunProjection | undefined } {
  const sql = `SELECT (SELECT max(seq) FROM journal WHERE tenant = ?1 AND run_id = ?2) AS stored_head, runs.*
    FROM (SELECT 1) LEFT JOIN runs ON runs.tenant = ?1 AND runs.run_id = ?2`;
  const row = handle.get(sql, tenant, runId);
  const head = Number(row?.["stored_head"] ?? 0);
  // A line that nobody needs is not read: it may be one that somebody damaged.
  const isNeeded = row !== undefined && row["run_id"] !== null && head === expectedHead;
  return { head, before: isNeeded ? toRunProjection(row) : undefined };
}

/** What the store's note said when the journal was last found to agree with it. */
const confirmed = new WeakMap<SqliteHandle, number>();

/** Reads the whole journal, so it is asked only before a commit is refused, and once for each time that is noted. */
function newestInJournal(handle: SqliteHandle, noted: number): number {
  if (confirmed.get(handle) === noted) {
    return noted;
  }
  const newest = Number(handle.get("SELECT max(at) AS newest FROM journal")?.["newest"] ?? 0);
  confirmed.set(handle, newest);
  return newest;
}

function writeJournal(handle: SqliteHandle, { run, head, entries, blobs }: PreparedCommit): void {
  for (const [index, { at, schema, text }] of entries.entries()) {
    handle.run(
      "INSERT INTO journal (tenant, run_id, seq, at, schema, event) VALUES (?, ?, ?, ?, ?, ?)",
      run.tenant,
      run.runId,
      head + index + 1,
      at,
      schema,
      text,
    );
  }
  for (const [sha256, text] of blobs) {
    handle.run("INSERT OR IGNORE INTO blobs (sha256, text) VALUES (?, ?)", sha256, text);
  }
}

function writeRecords(handle: SqliteHandle, run: RunKey, records: readonly AppendedRecord[]): void {
  for (const { seq, text, leaf, runSeq } of records) {
    handle.run(
      "INSERT INTO audit (seq, text, leaf, tenant, run_id, run_seq) VALUES (?, ?, ?, ?, ?, ?)",
      seq,
      text,
      leaf,
      run.tenant,
      run.runId,
      runSeq,
    );
  }
}
