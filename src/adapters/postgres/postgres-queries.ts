import {
  type ApprovalRow,
  type ApprovalsQuery,
  type BudgetRow,
  pageRows,
  type RunKey,
  type RunRow,
  type RunsQuery,
  type StoredRow,
  toApprovalRow,
  toBudgetRow,
  toRunProjection,
} from "../../journal/index.ts";
import type { Session } from "./session.ts";
import { APPROVALS, columnsOf, RUNS } from "./tables.ts";
import { indexKey } from "./text-code.ts";

/** A WHERE clause that grows; each distinct clause is one prepared statement. */
interface Conditions {
  add(sql: (place: (value: unknown) => string) => string): void;
  readonly sql: string;
  readonly values: readonly unknown[];
}

function createConditions(): Conditions {
  const parts: string[] = [];
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  return {
    add: (sql) => {
      parts.push(sql(place));
    },
    get sql() {
      return parts.join(" AND ");
    },
    values,
  };
}

export async function queryRun(session: Session, schema: string, run: RunKey): Promise<RunRow | undefined> {
  const sql = `SELECT ${columnsOf(RUNS)} FROM ${schema}.runs WHERE tenant = $1 AND run_id = $2`;
  const [row] = await session.all(sql, run.tenant, run.runId);
  return row && toRunRow(row);
}

export async function queryRuns(session: Session, schema: string, query: RunsQuery): Promise<readonly RunRow[]> {
  const { tenant, status, agent, before, beforeRunId } = query;
  const where = createConditions();
  where.add((place) => `tenant = ${place(tenant)}`);
  if (status !== undefined) {
    where.add((place) => `status = ${place(status)}`);
  }
  if (agent !== undefined) {
    where.add((place) => `agent = ${place(agent)}`);
  }
  if (query.inDoubt === true) {
    where.add(() => "in_doubt <> '[]'");
  }
  if (before !== undefined) {
    where.add(
      (place) => `(started_at, ordinal) < (${place(before)}, coalesce(
        (SELECT ordinal FROM ${schema}.runs WHERE tenant = ${place(tenant)} AND run_id = ${place(beforeRunId ?? "")}), 0))`,
    );
  }
  const sql = `SELECT ${columnsOf(RUNS)} FROM ${schema}.runs WHERE ${where.sql}
    ORDER BY started_at DESC, ordinal DESC LIMIT ${pageRows(query.limit)}`;
  return (await session.all(sql, ...where.values)).map(toRunRow);
}

/** With `now`, only those that are not paused for longer. */
export async function queryUnfinished(
  session: Session,
  schema: string,
  limit: number,
  after: RunKey | undefined,
  now: number | undefined,
): Promise<readonly RunRow[]> {
  const columns = columnsOf(RUNS);
  const rows = pageRows(limit);
  // Two halves, because each has an index of its own.
  const half = (condition: string): string => `(SELECT ${columns} FROM ${schema}.runs
    WHERE ${condition} AND (tenant, run_id) > ($1, $2) ORDER BY tenant, run_id LIMIT ${rows})`;
  const sql = `SELECT ${columns} FROM (
      ${half("unfinished = 1")} UNION ALL ${half("unfinished = 2 AND paused_until <= $3")}
    ) AS r ORDER BY tenant, run_id LIMIT ${rows}`;
  const pausedUntil = now === undefined ? Number.MAX_SAFE_INTEGER : Math.floor(now);
  return (await session.all(sql, after?.tenant ?? "", after?.runId ?? "", pausedUntil)).map(toRunRow);
}

export async function queryConversation(
  session: Session,
  schema: string,
  tenant: string,
  conversationId: string,
): Promise<readonly RunRow[]> {
  const sql = `SELECT ${columnsOf(RUNS)} FROM ${schema}.runs
    WHERE tenant = $1 AND conversation_key = $2 ORDER BY started_at, ordinal`;
  return (await session.all(sql, tenant, indexKey(conversationId))).map(toRunRow);
}

export async function queryApproval(
  session: Session,
  schema: string,
  tenant: string,
  approvalId: string,
): Promise<ApprovalRow | undefined> {
  const sql = `SELECT ${columnsOf(APPROVALS)} FROM ${schema}.approvals WHERE tenant = $1 AND approval_key = $2`;
  const [row] = await session.all(sql, tenant, indexKey(approvalId));
  return row && toApprovalRow(row);
}

export async function queryApprovals(
  session: Session,
  schema: string,
  query: ApprovalsQuery,
): Promise<readonly ApprovalRow[]> {
  const { tenant, status, runId, after } = query;
  const where = createConditions();
  where.add((place) => `tenant = ${place(tenant)}`);
  if (status !== undefined) {
    where.add((place) => `status = ${place(status)}`);
  }
  if (runId !== undefined) {
    where.add((place) => `run_id = ${place(runId)}`);
  }
  if (after !== undefined) {
    where.add(
      (place) => `(requested_at, ordinal) > (${place(after.requestedAt)}, coalesce(
        (SELECT ordinal FROM ${schema}.approvals
          WHERE tenant = ${place(tenant)} AND approval_key = ${place(indexKey(after.approvalId))}),
        ${Number.MAX_SAFE_INTEGER}))`,
    );
  }
  const sql = `SELECT ${columnsOf(APPROVALS)} FROM ${schema}.approvals WHERE ${where.sql}
    ORDER BY requested_at, ordinal LIMIT ${pageRows(query.limit)}`;
  return (await session.all(sql, ...where.values)).map(toApprovalRow);
}

export async function queryBudget(
  session: Session,
  schema: string,
  tenant: string,
  budget: string,
): Promise<BudgetRow> {
  const sql = `SELECT used, reserved FROM ${schema}.budgets WHERE tenant = $1 AND budget_key = $2`;
  const [row] = await session.all(sql, tenant, indexKey(budget));
  return toBudgetRow(tenant, budget, row);
}

function toRunRow(row: StoredRow): RunRow {
  return toRunProjection(row).row;
}
