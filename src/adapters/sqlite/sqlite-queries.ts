import type { SQLInputValue } from "node:sqlite";
import {
  type ApprovalRow,
  type ApprovalsQuery,
  pageRows,
  type RunKey,
  type RunRow,
  type RunsQuery,
} from "../../journal/index.ts";
import { toApprovalRow, toRunProjection } from "./rows.ts";
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
  if (before !== undefined) {
    conditions.push({
      sql: `(started_at, ordinal) < (?, coalesce((SELECT ordinal FROM runs WHERE tenant = ? AND run_id = ?), 0))`,
      values: [before, tenant, beforeRunId ?? ""],
    });
  }
  return select(handle, "runs", conditions, "started_at DESC, ordinal DESC", query.limit).map(toRunRow);
}

export function queryUnfinished(handle: SqliteHandle, limit: number, after: RunKey | undefined): readonly RunRow[] {
  const conditions: Condition[] = [{ sql: "unfinished = 1", values: [] }];
  if (after !== undefined) {
    conditions.push({ sql: "(tenant, run_id) > (?, ?)", values: [after.tenant, after.runId] });
  }
  return select(handle, "runs", conditions, "tenant, run_id", limit).map(toRunRow);
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
