import type { MemoryTables } from "./memory-tables.ts";
import {
  type ApprovalRow,
  type ApprovalsQuery,
  PAGE_ROWS_MAX,
  type RunKey,
  type RunRow,
  type RunsQuery,
} from "./store.ts";

/** Rows of a page: the wish, bounded. */
export function pageRows(limit: number | undefined): number {
  return Math.min(Math.max(0, Math.trunc(limit ?? PAGE_ROWS_MAX)), PAGE_ROWS_MAX);
}

/** Newest first; among runs of the same millisecond the one stored later is newer. */
export function memoryRuns(tables: MemoryTables, query: RunsQuery): readonly RunRow[] {
  const rows = rowsOf(tables, query.tenant);
  const newest = rows.reverse().sort((one, other) => other.startedAt - one.startedAt);
  const place = newest.findIndex((row) => row.runId === query.beforeRunId);
  return newest
    .filter((row, index) => {
      const isBefore =
        query.before === undefined ||
        row.startedAt < query.before ||
        (row.startedAt === query.before && place !== -1 && index > place);
      return (
        isBefore &&
        (query.status === undefined || row.status === query.status) &&
        (query.agent === undefined || row.agent === query.agent)
      );
    })
    .slice(0, pageRows(query.limit));
}

export function memoryUnfinished(tables: MemoryTables, limit: number, after: RunKey | undefined): readonly RunRow[] {
  return [...tables.tenants.keys()]
    .flatMap((tenant) => rowsOf(tables, tenant))
    .filter((row) => isUnfinished(row) && (after === undefined || compareKeys(row, after) > 0))
    .sort(compareKeys)
    .slice(0, pageRows(limit));
}

/** Whether somebody must go on with a run. */
export function isUnfinished(row: RunRow): boolean {
  return row.termination === undefined || row.nextRunId !== undefined;
}

export function memoryApprovals(tables: MemoryTables, query: ApprovalsQuery): readonly ApprovalRow[] {
  const approvals = tables.tenants.get(query.tenant)?.approvals.values() ?? [];
  return [...approvals]
    .filter(
      (row) =>
        (query.status === undefined || row.status === query.status) &&
        (query.runId === undefined || row.runId === query.runId),
    )
    .sort((one, other) => one.requestedAt - other.requestedAt)
    .slice(0, pageRows(query.limit));
}

export function memoryConversation(tables: MemoryTables, tenant: string, conversationId: string): readonly RunRow[] {
  const runIds = tables.tenants.get(tenant)?.conversations.get(conversationId) ?? [];
  return runIds
    .flatMap((runId) => tables.memoryRun({ tenant, runId })?.projection.row ?? [])
    .sort((one, other) => one.startedAt - other.startedAt);
}

function rowsOf(tables: MemoryTables, tenant: string): RunRow[] {
  return Array.from(tables.tenants.get(tenant)?.runs.values() ?? [], (run) => run.projection.row);
}

function compareKeys(one: RunKey, other: RunKey): number {
  return compareText(one.tenant, other.tenant) || compareText(one.runId, other.runId);
}

function compareText(one: string, other: string): number {
  if (one === other) {
    return 0;
  }
  return one < other ? -1 : 1;
}
