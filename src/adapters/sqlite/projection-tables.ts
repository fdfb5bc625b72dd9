import {
  type ApprovalRow,
  type BudgetReservation,
  type BudgetRow,
  decodeEvent,
  isUnfinished,
  type ProjectionChanges,
  type ProjectionView,
  type RunKey,
  type RunProjection,
  type RunRow,
  toApprovalRow,
  toBudgetRow,
  toJournalLine,
  toReservation,
  toRunProjection,
} from "../../journal/index.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

/** What the projections of a commit are worked out from, read inside the commit's transaction. */
export function createSqliteView(handle: SqliteHandle): ProjectionView {
  return {
    run: ({ tenant, runId }) => {
      const row = handle.get("SELECT * FROM runs WHERE tenant = ? AND run_id = ?", tenant, runId);
      return row && toRunProjection(row);
    },
    approval: (tenant, approvalId) => {
      const row = handle.get("SELECT * FROM approvals WHERE tenant = ? AND approval_id = ?", tenant, approvalId);
      return row && toApprovalRow(row);
    },
    budget: (tenant, budget) =>
      toBudgetRow(
        tenant,
        budget,
        handle.get("SELECT used, reserved FROM budgets WHERE tenant = ? AND budget = ?", tenant, budget),
      ),
    reservation: ({ tenant, runId }, reservationId) => {
      const row = handle.get(
        "SELECT budget, amount FROM reservations WHERE tenant = ? AND run_id = ? AND reservation_id = ?",
        tenant,
        runId,
        reservationId,
      );
      return row && toReservation(row);
    },
    newestFirst: (key) => newestFirst(handle, key),
  };
}

function* newestFirst(handle: SqliteHandle, { tenant, runId }: RunKey): Iterable<ReturnType<typeof decodeEvent>> {
  const sql = "SELECT * FROM journal WHERE tenant = ? AND run_id = ? ORDER BY seq DESC";
  for (const row of handle.iterate(sql, tenant, runId)) {
    yield decodeEvent(toJournalLine(row));
  }
}

/** `before`: the run's line as it was read in the same transaction. */
export function writeChanges(
  handle: SqliteHandle,
  key: RunKey,
  changes: ProjectionChanges,
  before: RunProjection | undefined,
): void {
  writeRun(handle, changes.run, before);
  for (const row of changes.approvals.values()) {
    writeApproval(handle, row);
  }
  for (const row of changes.budgets.values()) {
    writeBudget(handle, row);
  }
  for (const [reservationId, reservation] of changes.reservations) {
    writeReservation(handle, key, reservationId, reservation);
  }
}

/** Writes a line of the run index; `before` is the line that is there, when it is known to be right. */
export function writeRun(handle: SqliteHandle, run: RunProjection, before: RunProjection | undefined): void {
  if (before === undefined) {
    insertRun(handle, run);
  } else {
    updateRun(handle, run, before);
  }
}

/** Only what events change: SQLite leaves an index alone whose columns stay as they are. Ends a pause. */
function updateRun(handle: SqliteHandle, { row, pending, journalHash }: RunProjection, before: RunProjection): void {
  const inDoubt = inDoubtText(row);
  const isDoubtNew = inDoubt !== inDoubtText(before.row);
  handle.run(
    `UPDATE runs SET status = ?, termination = ?, answer = ?, head = ?, updated_at = ?, next_run_id = ?, pending = ?,
       journal_hash = ?, unfinished = ?, paused_until = NULL${isDoubtNew ? ", in_doubt = ?" : ""} WHERE tenant = ? AND run_id = ?`,
    row.status,
    row.termination ?? null,
    row.answer ?? null,
    row.head,
    row.updatedAt,
    row.nextRunId ?? null,
    JSON.stringify(pending),
    journalHash,
    isUnfinished(row) ? 1 : 0,
    ...(isDoubtNew ? [inDoubt] : []),
    row.tenant,
    row.runId,
  );
}

function insertRun(handle: SqliteHandle, { row, pending, journalHash }: RunProjection): void {
  handle.run(
    `INSERT INTO runs (tenant, run_id, agent, conversation_id, principal, input, status, termination, answer, head,
       started_at, updated_at, next_run_id, pending, journal_hash, unfinished, in_doubt)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, run_id) DO UPDATE SET agent = excluded.agent, conversation_id = excluded.conversation_id,
       principal = excluded.principal, input = excluded.input, status = excluded.status,
       termination = excluded.termination, answer = excluded.answer, head = excluded.head,
       started_at = excluded.started_at, updated_at = excluded.updated_at, next_run_id = excluded.next_run_id,
       pending = excluded.pending, journal_hash = excluded.journal_hash, unfinished = excluded.unfinished,
       paused_until = NULL,
       in_doubt = excluded.in_doubt`,
    row.tenant,
    row.runId,
    row.agent,
    row.conversationId,
    JSON.stringify(row.principal),
    row.input,
    row.status,
    row.termination ?? null,
    row.answer ?? null,
    row.head,
    row.startedAt,
    row.updatedAt,
    row.nextRunId ?? null,
    JSON.stringify(pending),
    journalHash,
    isUnfinished(row) ? 1 : 0,
    inDoubtText(row),
  );
}

function inDoubtText({ inDoubt = [] }: RunRow): string {
  return JSON.stringify(inDoubt);
}

export function writeApproval(handle: SqliteHandle, row: ApprovalRow): void {
  handle.run(
    `INSERT INTO approvals (tenant, approval_id, run_id, call_id, agent, tool, args, args_hash, code, reason, rule_id,
       requester, status, requested_at, expires_at, resolved_at, resolved_by, note)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (tenant, approval_id) DO UPDATE SET run_id = excluded.run_id, call_id = excluded.call_id,
       agent = excluded.agent, tool = excluded.tool, args = excluded.args, args_hash = excluded.args_hash,
       code = excluded.code, reason = excluded.reason, rule_id = excluded.rule_id, requester = excluded.requester,
       status = excluded.status, requested_at = excluded.requested_at, expires_at = excluded.expires_at,
       resolved_at = excluded.resolved_at, resolved_by = excluded.resolved_by, note = excluded.note`,
    row.tenant,
    row.approvalId,
    row.runId,
    row.callId,
    row.agent,
    row.tool,
    JSON.stringify(row.args),
    row.argsHash,
    row.code,
    row.reason,
    row.ruleId,
    JSON.stringify(row.requester),
    row.status,
    row.requestedAt,
    row.expiresAt,
    row.resolvedAt ?? null,
    row.resolvedBy === undefined ? null : JSON.stringify(row.resolvedBy),
    row.note ?? null,
  );
}

export function writeBudget(handle: SqliteHandle, row: BudgetRow): void {
  handle.run(
    `INSERT INTO budgets (tenant, budget, used, reserved) VALUES (?, ?, ?, ?)
     ON CONFLICT (tenant, budget) DO UPDATE SET used = excluded.used, reserved = excluded.reserved`,
    row.tenant,
    row.budget,
    row.used,
    row.reserved,
  );
}

/** Undefined closes the reservation. */
export function writeReservation(
  handle: SqliteHandle,
  { tenant, runId }: RunKey,
  reservationId: string,
  reservation: BudgetReservation | undefined,
): void {
  if (reservation === undefined) {
    handle.run(
      "DELETE FROM reservations WHERE tenant = ? AND run_id = ? AND reservation_id = ?",
      tenant,
      runId,
      reservationId,
    );
    return;
  }
  handle.run(
    "INSERT OR REPLACE INTO reservations (tenant, run_id, reservation_id, budget, amount) VALUES (?, ?, ?, ?, ?)",
    tenant,
    runId,
    reservationId,
    reservation.budget,
    reservation.amount,
  );
}
