import type { JsonValue, Principal } from "../../core/index.ts";
import type {
  ApprovalRow,
  ApprovalStatus,
  BudgetReservation,
  BudgetRow,
  JournalLine,
  RunProjection,
  RunStatus,
} from "../../journal/index.ts";
import type { SqliteRow } from "./sqlite-handle.ts";

/** A run index line from its columns. */
export function toRunProjection(row: SqliteRow): RunProjection {
  const { termination, answer, next_run_id: nextRunId } = row;
  return {
    row: {
      tenant: text(row["tenant"]),
      runId: text(row["run_id"]),
      agent: text(row["agent"]),
      conversationId: text(row["conversation_id"]),
      principal: json(row["principal"]) as Principal,
      input: text(row["input"]),
      // The table's CHECK holds the type.
      status: text(row["status"]) as RunStatus,
      ...(typeof termination === "string" ? { termination } : {}),
      ...(typeof answer === "string" ? { answer } : {}),
      head: number(row["head"]),
      startedAt: number(row["started_at"]),
      updatedAt: number(row["updated_at"]),
      ...(typeof nextRunId === "string" ? { nextRunId } : {}),
    },
    pending: json(row["pending"]) as readonly string[],
  };
}

/** An inbox line from its columns. */
export function toApprovalRow(row: SqliteRow): ApprovalRow {
  const { resolved_at: resolvedAt, resolved_by: resolvedBy, note } = row;
  return {
    tenant: text(row["tenant"]),
    runId: text(row["run_id"]),
    approvalId: text(row["approval_id"]),
    callId: text(row["call_id"]),
    agent: text(row["agent"]),
    tool: text(row["tool"]),
    args: json(row["args"]) as JsonValue,
    argsHash: text(row["args_hash"]),
    code: text(row["code"]),
    reason: text(row["reason"]),
    ruleId: text(row["rule_id"]),
    requester: json(row["requester"]) as Principal,
    status: text(row["status"]) as ApprovalStatus,
    requestedAt: number(row["requested_at"]),
    expiresAt: number(row["expires_at"]),
    ...(typeof resolvedAt === "number" ? { resolvedAt } : {}),
    ...(typeof resolvedBy === "string" ? { resolvedBy: json(resolvedBy) as Principal } : {}),
    ...(typeof note === "string" ? { note } : {}),
  };
}

export function toBudgetRow(tenant: string, budget: string, row: SqliteRow | undefined): BudgetRow {
  return { tenant, budget, used: number(row?.["used"] ?? 0), reserved: number(row?.["reserved"] ?? 0) };
}

export function toReservation(row: SqliteRow): BudgetReservation {
  return { budget: text(row["budget"]), amount: number(row["amount"]) };
}

/** A journal line from its columns. */
export function toJournalLine(row: SqliteRow): JournalLine {
  return {
    run: { tenant: text(row["tenant"]), runId: text(row["run_id"]) },
    seq: number(row["seq"]),
    at: number(row["at"]),
    schema: number(row["schema"]),
    text: text(row["event"]),
  };
}

function text(value: unknown): string {
  return String(value);
}

function number(value: unknown): number {
  return Number(value);
}

function json(value: unknown): unknown {
  return JSON.parse(String(value));
}
