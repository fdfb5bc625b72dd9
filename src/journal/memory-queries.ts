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
        (query.agent === undefined || row.agent === query.agent) &&
        (query.inDoubt === undefined || row.inDoubt !== undefined)
      );
    })
    .slice(0, pageRows(query.limit));
}

/** With `now`, only those that are not paused for longer. */
export function memoryUnfinished(
  tables: MemoryTables,
  limit: number,
  after: RunKey | undefined,
  now: number | undefined,
): readonly RunRow[] {
  return [...tables.tenants.values()]
    .flatMap((tenant) => [...tenant.runs.values()])
    .filter(({ pausedUntil }) => pausedUntil === undefined || now === undefined || pausedUntil <= now)
    .map((run) => run.projection.row)
    .filter((row) => isUnfinished(row) && (after === undefined || compareKeys(row, after) > 0))
    .sort(compareKeys)
    .slice(0, pageRows(limit));
}

/** Whether somebody must go on with a run. */
export function isUnfinished(row: RunRow): boolean {
  return row.termination === undefined || row.nextRunId !== undefined;
}

export function memoryApprovals(tables: MemoryTables, query: ApprovalsQuery): readonly ApprovalRow[] {
  const { status, runId, after } = query;
  const approvals = tables.tenants.get(query.tenant)?.approvals.values() ?? [];
  const oldest = [...approvals].sort((one, other) => one.requestedAt - other.requestedAt);
  // Looked for among all rows: one that was answered meanwhile is filtered out below, and its place still counts.
  const place = oldest.findIndex((row) => row.approvalId === after?.approvalId);
  return oldest
    .filter((row, index) => {
      const isAfter =
        after === undefined ||
        row.requestedAt > after.requestedAt ||
        (row.requestedAt === after.requestedAt && place !== -1 && index > place);
      return isAfter && (status === undefined || row.status === status) && (runId === undefined || row.runId === runId);
    })
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
