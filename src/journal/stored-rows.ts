import type { AuditEntry } from "../audit/index.ts";
import type { JsonValue, Principal } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { BudgetReservation, RunProjection } from "./projections.ts";
import type { ApprovalRow, ApprovalStatus, BudgetRow, JournalLine, RunKey, RunStatus, TracedRecord } from "./store.ts";

/** A row of one of the tables that the durable stores have in common, by the names of its columns. */
export type StoredRow = Readonly<Record<string, unknown>>;

/** A run index line from its columns. Throws `BELAY_STORE_CORRUPT` for a column that cannot be read. */
export function toRunProjection(row: StoredRow): RunProjection {
  const { termination, answer, next_run_id: nextRunId } = row;
  return {
    row: {
      tenant: text(row["tenant"]),
      runId: text(row["run_id"]),
      agent: text(row["agent"]),
      conversationId: text(row["conversation_id"]),
      principal: principal(row, "runs", "principal"),
      input: text(row["input"]),
      // The table's CHECK holds the type.
      status: text(row["status"]) as RunStatus,
      ...(typeof termination === "string" ? { termination } : {}),
      ...(typeof answer === "string" ? { answer } : {}),
      head: number(row["head"]),
      startedAt: number(row["started_at"]),
      updatedAt: number(row["updated_at"]),
      ...(typeof nextRunId === "string" ? { nextRunId } : {}),
      ...(row["in_doubt"] === "[]" ? {} : { inDoubt: idList(row, "in_doubt") }),
    },
    pending: idList(row, "pending"),
    journalHash: text(row["journal_hash"]),
  };
}

/** An inbox line from its columns. Throws `BELAY_STORE_CORRUPT` for a column that cannot be read. */
export function toApprovalRow(row: StoredRow): ApprovalRow {
  const { resolved_at: resolvedAt, resolved_by: resolvedBy, note } = row;
  return {
    tenant: text(row["tenant"]),
    runId: text(row["run_id"]),
    approvalId: text(row["approval_id"]),
    callId: text(row["call_id"]),
    agent: text(row["agent"]),
    tool: text(row["tool"]),
    args: json(row, "approvals", "args") as JsonValue,
    argsHash: text(row["args_hash"]),
    code: text(row["code"]),
    reason: text(row["reason"]),
    ruleId: text(row["rule_id"]),
    requester: principal(row, "approvals", "requester"),
    status: text(row["status"]) as ApprovalStatus,
    requestedAt: number(row["requested_at"]),
    expiresAt: number(row["expires_at"]),
    ...(typeof resolvedAt === "number" ? { resolvedAt } : {}),
    ...(typeof resolvedBy === "string" ? { resolvedBy: principal(row, "approvals", "resolved_by") } : {}),
    ...(typeof note === "string" ? { note } : {}),
  };
}

export function toBudgetRow(tenant: string, budget: string, row: StoredRow | undefined): BudgetRow {
  return { tenant, budget, used: number(row?.["used"] ?? 0), reserved: number(row?.["reserved"] ?? 0) };
}

export function toReservation(row: StoredRow): BudgetReservation {
  return { budget: text(row["budget"]), amount: number(row["amount"]) };
}

/** A journal line from its columns. */
export function toJournalLine(row: StoredRow): JournalLine {
  return {
    run: toRunKey(row),
    seq: number(row["seq"]),
    at: number(row["at"]),
    schema: number(row["schema"]),
    text: text(row["event"]),
  };
}

export function toRunKey(row: StoredRow): RunKey {
  return { tenant: text(row["tenant"]), runId: text(row["run_id"]) };
}

export function toAuditEntry(row: StoredRow): AuditEntry {
  return { seq: number(row["seq"]), text: text(row["text"]), leaf: text(row["leaf"]) };
}

/** An audit record at its `place`, beside the journal line of its event; `event` is null when that is gone. */
export function toTracedRecord(row: StoredRow): TracedRecord {
  return {
    ...toAuditEntry({ seq: row["place"], text: row["text"], leaf: row["leaf"] }),
    run: toRunKey(row),
    runSeq: number(row["run_seq"]),
    ...(row["event"] === null ? {} : { line: toJournalLine(row) }),
  };
}

function text(value: unknown): string {
  return String(value);
}

function number(value: unknown): number {
  return Number(value);
}

type DerivedTable = "runs" | "approvals";

function principal(row: StoredRow, table: DerivedTable, column: string): Principal {
  const value = json(row, table, column);
  if (typeof value !== "object" || value === null || !("id" in value) || !("kind" in value)) {
    throw unreadable(row, table, column);
  }
  return value as Principal;
}

function idList(row: StoredRow, column: "pending" | "in_doubt"): readonly string[] {
  const value = json(row, "runs", column);
  if (!Array.isArray(value)) {
    throw unreadable(row, "runs", column);
  }
  return value as readonly string[];
}

function json(row: StoredRow, table: DerivedTable, column: string): unknown {
  try {
    return JSON.parse(text(row[column]));
  } catch (cause) {
    throw unreadable(row, table, column, cause);
  }
}

function unreadable(row: StoredRow, table: DerivedTable, column: string, cause?: unknown): BelayError {
  const { run_id: runId, approval_id: approvalId, head } = row;
  const which = approvalId === undefined ? `run ${text(runId)} (head ${text(head)})` : `approval ${text(approvalId)}`;
  const ofRun = approvalId === undefined ? "" : ` of run ${text(runId)}`;
  return new BelayError(
    "BELAY_STORE_CORRUPT",
    `The column ${column} of the table ${table} is not readable for ${which}${ofRun}: somebody edited the store. ` +
      "The journal still has it: run belay audit verify, then belay doctor --rebuild.",
    { cause },
  );
}
