import { BelayError } from "../../errors.ts";
import {
  appendRecords,
  type CommitResult,
  checkClock,
  EVENT_SCHEMA,
  type PreparedCommit,
  type ProjectionView,
  projectCommit,
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
  const head = storedHead(handle, commit);
  if (head !== commit.head) {
    return { status: "conflict", head };
  }
  if (head > 0 && view.run(run) === undefined) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `The run index of ${handle.path} has lost run ${run.runId}; the journal still has it. Rebuild the index with rebuildProjections().`,
    );
  }
  const newestAt = checkClock(commit, session.tree.newestAt, clockToleranceMs);
  const projected = projectCommit(view, run, head, entries);
  if (projected.status === "refused") {
    return projected;
  }
  const { changes } = projected;
  const { frontier, records } = appendRecords(session.tree.frontier, commit, changes.run.row.principal);
  writeJournal(handle, commit);
  writeChanges(handle, run, changes);
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
  // Last, because a failure above takes back the rows and not this.
  session.setTree({ frontier, newestAt });
  return { status: "committed", head: head + entries.length };
}

/** The journal itself decides, not the index that is derived from it. */
function storedHead(handle: SqliteHandle, { run }: PreparedCommit): number {
  const row = handle.get("SELECT max(seq) AS head FROM journal WHERE tenant = ? AND run_id = ?", run.tenant, run.runId);
  return Number(row?.["head"] ?? 0);
}

function writeJournal(handle: SqliteHandle, { run, head, entries, blobs }: PreparedCommit): void {
  for (const [index, { at, text }] of entries.entries()) {
    handle.run(
      "INSERT INTO journal (tenant, run_id, seq, at, schema, event) VALUES (?, ?, ?, ?, ?, ?)",
      run.tenant,
      run.runId,
      head + index + 1,
      at,
      EVENT_SCHEMA,
      text,
    );
  }
  for (const [sha256, text] of blobs) {
    handle.run("INSERT OR IGNORE INTO blobs (sha256, text) VALUES (?, ?)", sha256, text);
  }
}
