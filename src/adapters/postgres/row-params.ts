import {
  type ApprovalRow,
  type BudgetReservation,
  type BudgetRow,
  isUnfinished,
  type JournalLine,
  type RunKey,
  type RunProjection,
} from "../../journal/index.ts";
import type { TableRow } from "./tables.ts";
import { indexKey } from "./text-code.ts";

/** The columns of a run's line. */
export function runParams({ row, pending, journalHash }: RunProjection): TableRow {
  return {
    tenant: row.tenant,
    run_id: row.runId,
    agent: row.agent,
    conversation_id: row.conversationId,
    conversation_key: indexKey(row.conversationId),
    principal: JSON.stringify(row.principal),
    input: row.input,
    status: row.status,
    termination: row.termination ?? null,
    answer: row.answer ?? null,
    head: row.head,
    started_at: row.startedAt,
    updated_at: row.updatedAt,
    next_run_id: row.nextRunId ?? null,
    pending: JSON.stringify(pending),
    in_doubt: JSON.stringify(row.inDoubt ?? []),
    journal_hash: journalHash,
    unfinished: isUnfinished(row) ? 1 : 0,
  };
}

export function approvalParams(row: ApprovalRow): TableRow {
  return {
    tenant: row.tenant,
    approval_key: indexKey(row.approvalId),
    approval_id: row.approvalId,
    run_id: row.runId,
    call_id: row.callId,
    agent: row.agent,
    tool: row.tool,
    args: JSON.stringify(row.args),
    args_hash: row.argsHash,
    code: row.code,
    reason: row.reason,
    rule_id: row.ruleId,
    requester: JSON.stringify(row.requester),
    status: row.status,
    requested_at: row.requestedAt,
    expires_at: row.expiresAt,
    resolved_at: row.resolvedAt ?? null,
    resolved_by: row.resolvedBy === undefined ? null : JSON.stringify(row.resolvedBy),
    note: row.note ?? null,
  };
}

export function budgetParams({ tenant, budget, used, reserved }: BudgetRow): TableRow {
  return { tenant, budget_key: indexKey(budget), budget, used, reserved };
}

export function reservationParams(
  { tenant, runId }: RunKey,
  reservationId: string,
  { budget, amount }: BudgetReservation,
): TableRow {
  const reservation_key = indexKey(reservationId);
  return { tenant, run_id: runId, reservation_key, reservation_id: reservationId, budget, amount };
}

export function lineParams({ run, seq, at, schema, text }: JournalLine): TableRow {
  return { tenant: run.tenant, run_id: run.runId, seq, at, schema, event: text };
}
