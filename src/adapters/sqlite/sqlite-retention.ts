import { rootOf } from "../../audit/index.ts";
import {
  blobHashesIn,
  type ProjectionView,
  planRetirement,
  prepareRetirement,
  type Retired,
  type RetireRequest,
  type RunKey,
  rowName,
  type StoreRetention,
  toJournalLine,
} from "../../journal/index.ts";
import type { SqliteHandle, WriteSession } from "./sqlite-handle.ts";
import { queryConversation } from "./sqlite-queries.ts";
import { writeCommit } from "./write-commit.ts";

/** How a SQLite store forgets. What was removed is overwritten by what the file takes up next, or by `VACUUM`. */
export function createSqliteRetention(
  handle: SqliteHandle,
  view: ProjectionView,
  clockToleranceMs: number,
): StoreRetention {
  return {
    retire: (request) => handle.write((session) => retire(handle, view, session, { ...request, clockToleranceMs })),
    dropBlobs: (without) => handle.write(() => dropBlobs(handle, without)),
  };
}

function retire(
  handle: SqliteHandle,
  view: ProjectionView,
  session: WriteSession,
  request: RetireRequest & { readonly clockToleranceMs: number },
): Retired {
  const { run, at, dryRun = false, clockToleranceMs } = request;
  const { tenant, runId } = run;
  const sql = "SELECT * FROM journal WHERE tenant = ? AND run_id = ? ORDER BY seq";
  const lines = handle.all(sql, tenant, runId).map(toJournalLine);
  const conversation = queryConversation(handle, tenant, view.run(run)?.row.conversationId ?? "");
  const { frontier } = session.tree;
  const plan = planRetirement(request, {
    lines,
    conversation,
    audit: { size: frontier.size, root: rootOf(frontier) },
  });
  if (!plan.ok) {
    return { status: "kept", reason: plan.reason };
  }
  if (!dryRun) {
    const commit = prepareRetirement(run, lines.length, { at, event: plan.event });
    writeCommit(handle, view, session, commit, clockToleranceMs);
    handle.run("DELETE FROM journal WHERE tenant = ? AND run_id = ? AND seq <= ?", tenant, runId, lines.length);
    handle.run("DELETE FROM approvals WHERE tenant = ? AND run_id = ?", tenant, runId);
    // The index of runs keeps what `run.retired` says of the run, and no word of it.
    handle.run("UPDATE runs SET input = '' WHERE tenant = ? AND run_id = ?", tenant, runId);
  }
  return { status: "retired", events: lines.length, bytes: plan.bytes };
}

/** In one transaction, so that no event that means a blob is written between the look and the removal. */
function dropBlobs(handle: SqliteHandle, without: readonly RunKey[] | undefined) {
  const left = new Set(without?.map(({ tenant, runId }) => rowName(tenant, runId)));
  const meant = new Set<string>();
  const sql = "SELECT tenant, run_id, event FROM journal WHERE instr(event, '\"sha256\"') > 0";
  for (const row of handle.iterate(sql)) {
    if (!left.has(rowName(String(row["tenant"]), String(row["run_id"])))) {
      for (const sha256 of blobHashesIn(String(row["event"]))) {
        meant.add(sha256);
      }
    }
  }
  const dropped = handle
    .all("SELECT sha256, octet_length(text) AS bytes FROM blobs")
    .filter((row) => !meant.has(String(row["sha256"])));
  if (without === undefined) {
    for (const row of dropped) {
      handle.run("DELETE FROM blobs WHERE sha256 = ?", String(row["sha256"]));
    }
  }
  return { blobs: dropped.length, bytes: dropped.reduce((sum, row) => sum + Number(row["bytes"]), 0) };
}
