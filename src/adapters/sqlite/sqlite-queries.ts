import type { SQLInputValue } from "node:sqlite";
import {
  type ApprovalRow,
  type ApprovalsQuery,
  pageRows,
  type RunKey,
  type RunRow,
  type RunsQuery,
  toApprovalRow,
  toRunProjection,
} from "../../journal/index.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

/** Parts of a WHERE clause with their values; each distinct clause is one cached statement. */
interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

export function queryRuns(handle: SqliteHandle, query: RunsQuery): readonly RunRow[] {
  const { tenant, status, agent, before, beforeRunId } = query;
  const conditions: Condition[] = [{ sql: "tenant = ?", values: [tenant] }];
  if (status !== undefined) {
    conditions.push({ sql: "status = ?", values: [status] });
  }
  if (agent !== undefined) {
    conditions.push({ sql: "agent = ?", values: [agent] });
  }
  if (query.inDoubt === true) {
    conditions.push({ sql: "in_doubt <> '[]'", values: [] });
  }
  if (before !== undefined) {
    conditions.push({
      sql: `(started_at, ordinal) < (?, coalesce((SELECT ordinal FROM runs WHERE tenant = ? AND run_id = ?), 0))`,
      values: [before, tenant, beforeRunId ?? ""],
    });
  }
  return select(handle, "runs", conditions, "started_at DESC, ordinal DESC", query.limit).map(toRunRow);
}

/** With `now`, only those that are not paused for longer. */
export function queryUnfinished(
  handle: SqliteHandle,
  limit: number,
  after: RunKey | undefined,
  now: number | undefined,
): readonly RunRow[] {
  // Two halves, because each has an index of its own; SQLite merges them in the order of the keys. Left to itself it
  // would look for the second one among all runs, also those that are over, because they are in that order already.
  const sql = `SELECT * FROM runs WHERE unfinished = 1 AND (tenant, run_id) > (?1, ?2)
    UNION ALL SELECT * FROM runs INDEXED BY runs_paused WHERE unfinished = 2 AND paused_until <= ?3 AND (tenant, run_id) > (?1, ?2)
    ORDER BY tenant, run_id LIMIT ?4`;
  const pausedUntil = now ?? Number.MAX_SAFE_INTEGER;
  return handle.all(sql, after?.tenant ?? "", after?.runId ?? "", pausedUntil, pageRows(limit)).map(toRunRow);
}

export function queryConversation(handle: SqliteHandle, tenant: string, conversationId: string): readonly RunRow[] {
  const sql = "SELECT * FROM runs WHERE tenant = ? AND conversation_id = ? ORDER BY started_at, ordinal";
  return handle.all(sql, tenant, conversationId).map(toRunRow);
}

export function queryApprovals(handle: SqliteHandle, query: ApprovalsQuery): readonly ApprovalRow[] {
  const conditions: Condition[] = [{ sql: "tenant = ?", values: [query.tenant] }];
  if (query.status !== undefined) {
    conditions.push({ sql: "status = ?", values: [query.status] });
  }
  if (query.runId !== undefined) {
    conditions.push({ sql: "run_id = ?", values: [query.runId] });
  }
  if (query.after !== undefined) {
    const { requestedAt, approvalId } = query.after;
    conditions.push({
      sql: `(requested_at, ordinal) >
        (?, coalesce((SELECT ordinal FROM approvals WHERE tenant = ? AND approval_id = ?), ${Number.MAX_SAFE_INTEGER}))`,
      values: [requestedAt, query.tenant, approvalId],
    });
  }
  return select(handle, "approvals", conditions, "requested_at, ordinal", query.limit).map(toApprovalRow);
}

function select(
  handle: SqliteHandle,
  table: "runs" | "approvals",
  conditions: readonly Condition[],
  order: string,
  limit: number | undefined,
): ReturnType<SqliteHandle["all"]> {
  const where = conditions.map((condition) => condition.sql).join(" AND ");
  const values = conditions.flatMap((condition) => condition.values);
  return handle.all(`SELECT * FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT ?`, ...values, pageRows(limit));
}

function toRunRow(row: ReturnType<SqliteHandle["all"]>[number]): RunRow {
  return toRunProjection(row).row;
}
