import type { RunEvent } from "../../core/index.ts";
import { type BudgetRow, toApprovalRow, toBudgetRow, toReservation, toRunKey } from "../../journal/index.ts";
import { type BatchState, rowKey } from "./batch-state.ts";
import { type PendingCommit, runName } from "./commit-job.ts";
import { loadHistory } from "./load-runs.ts";
import type { Session } from "./session.ts";
import { APPROVALS, columnsOf, RESERVATIONS } from "./tables.ts";
import { indexKey } from "./text-code.ts";

interface Wanted {
  /** Tenant and id. */
  readonly approvals: Map<string, readonly [tenant: string, id: string]>;
  readonly reservations: Map<string, readonly [tenant: string, runId: string, id: string]>;
  readonly budgets: Map<string, readonly [tenant: string, budget: string]>;
  /** Calls of the run that a question is about. */
  readonly asked: Map<string, Set<string>>;
}

/** Reads everything besides the runs that projecting the jobs needs, and locks the budgets last. */
export async function loadDerived(
  session: Session,
  schema: string,
  state: BatchState,
  jobs: readonly PendingCommit[],
): Promise<void> {
  const wanted: Wanted = { approvals: new Map(), reservations: new Map(), budgets: new Map(), asked: new Map() };
  for (const job of jobs) {
    for (const [index, { event }] of job.commit.entries.entries()) {
      want(wanted, state, job, event, index);
    }
  }
  await loadApprovals(session, schema, state, [...wanted.approvals.values()]);
  await loadReservations(session, schema, state, [...wanted.reservations.values()]);
  for (const { run, reservation } of state.reservations.values()) {
    if (reservation !== undefined) {
      addBudget(wanted, run.tenant, reservation.budget);
    }
  }
  for (const [name, callIds] of wanted.asked) {
    const run = state.runs.get(name);
    if (run !== undefined) {
      await loadHistory(session, schema, run, callIds);
    }
  }
  await lockBudgets(session, schema, state, [...wanted.budgets.values()]);
}

function want(wanted: Wanted, state: BatchState, { commit }: PendingCommit, event: RunEvent, index: number): void {
  const { tenant, runId } = commit.run;
  const addApproval = (id: string) => wanted.approvals.set(rowKey(tenant, id), [tenant, id]);
  switch (event.type) {
    case "approval.requested":
      addApproval(event.approvalId);
      // Only what stands before the question says what it is about.
      if (!asksFor(commit.entries.slice(0, index), event.callId)) {
        const name = runName(commit.run);
        wanted.asked.set(name, (wanted.asked.get(name) ?? new Set()).add(event.callId));
      }
      return;
    case "approval.resolved":
    case "approval.expired":
      addApproval(event.approvalId);
      return;
    case "run.ended":
      for (const id of state.run(commit.run)?.pending ?? []) {
        addApproval(id);
      }
      return;
    case "budget.reserved":
      addBudget(wanted, tenant, event.budget);
      wanted.reservations.set(rowKey(tenant, runId, event.reservationId), [tenant, runId, event.reservationId]);
      return;
    case "budget.settled":
    case "budget.released":
      wanted.reservations.set(rowKey(tenant, runId, event.reservationId), [tenant, runId, event.reservationId]);
      return;
    default:
  }
}

function addBudget({ budgets }: Wanted, tenant: string, budget: string): void {
  budgets.set(rowKey(tenant, budget), [tenant, budget]);
}

function asksFor(entries: PendingCommit["commit"]["entries"], callId: string): boolean {
  return entries.some(
    ({ event }) =>
      event.type === "model.replied" &&
      event.output.kind === "calls" &&
      event.output.calls.some((call) => call.callId === callId),
  );
}

async function loadApprovals(
  session: Session,
  schema: string,
  state: BatchState,
  ids: readonly (readonly [string, string])[],
): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const sql = `SELECT ${columnsOf(APPROVALS)} FROM ${schema}.approvals
    WHERE (tenant, approval_key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`;
  const rows = await session.all(sql, column(ids, 0), keys(ids, 1));
  for (const row of rows.map(toApprovalRow)) {
    state.approvals.set(rowKey(row.tenant, row.approvalId), { row, isStored: true, isChanged: false });
  }
}

async function loadReservations(
  session: Session,
  schema: string,
  state: BatchState,
  ids: readonly (readonly [string, string, string])[],
): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const sql = `SELECT ${columnsOf(RESERVATIONS)} FROM ${schema}.reservations
    WHERE (tenant, run_id, reservation_key) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`;
  for (const row of await session.all(sql, column(ids, 0), column(ids, 1), keys(ids, 2))) {
    const run = toRunKey(row);
    const reservationId = String(row["reservation_id"]);
    const loaded = { run, reservationId, reservation: toReservation(row), isChanged: false };
    state.reservations.set(rowKey(run.tenant, run.runId, reservationId), loaded);
  }
}

/**
 * Locks the lines of the budgets in one order for everybody; those that nobody has used yet are made first.
 *
 * A line of zeros that stays behind, because nothing was reserved after all, says what no line says.
 */
async function lockBudgets(
  session: Session,
  schema: string,
  state: BatchState,
  ids: readonly (readonly [string, string])[],
): Promise<void> {
  if (ids.length === 0) {
    return;
  }
  const sql = `SELECT tenant, budget, used, reserved FROM ${schema}.budgets
    WHERE (tenant, budget_key) IN (SELECT * FROM unnest($1::text[], $2::text[]))
    ORDER BY tenant, budget_key FOR UPDATE`;
  const lock = () => session.all(sql, column(ids, 0), keys(ids, 1));
  let rows = await lock();
  if (rows.length < ids.length) {
    const insert = `INSERT INTO ${schema}.budgets (tenant, budget_key, budget, used, reserved)
      SELECT t, k, b, 0, 0 FROM unnest($1::text[], $2::text[], $3::text[]) AS w (t, k, b)
      ORDER BY t COLLATE "C", k COLLATE "C" ON CONFLICT DO NOTHING`;
    await session.all(insert, column(ids, 0), keys(ids, 1), column(ids, 1));
    rows = await lock();
  }
  for (const row of rows) {
    const budget: BudgetRow = toBudgetRow(String(row["tenant"]), String(row["budget"]), row);
    state.budgets.set(rowKey(budget.tenant, budget.budget), { row: budget, isStored: true, isChanged: false });
  }
}

function column(ids: readonly (readonly string[])[], index: number): readonly string[] {
  return ids.map((id) => id[index] ?? "");
}

function keys(ids: readonly (readonly string[])[], index: number): readonly string[] {
  return column(ids, index).map(indexKey);
}
