import { type Entry, terminationCode } from "../core/index.ts";
import type { CallFacts } from "./call-facts.ts";
import { JOURNAL_GENESIS } from "./journal-chain.ts";
import type { ApprovalRow, ApprovalStatus, BudgetRow, EventOf, RunKey, RunRow } from "./store.ts";

/** A line of the run index with what only the projection itself needs. */
export interface RunProjection {
  readonly row: RunRow;
  /** Ids of the approvals that nobody has decided yet, oldest first. */
  readonly pending: readonly string[];
  /** `journalLink` of the run's last event. */
  readonly journalHash: string;
}

/** A reservation that is neither settled nor released. */
export interface BudgetReservation {
  readonly budget: string;
  readonly amount: number;
}

/**
 * The run index after one more event; undefined when the run has not been started.
 *
 * Pure and total: an event that does not apply changes nothing but the head and the time. `journalHash` stays as it is:
 * it covers stored texts, which `projectCommit` has.
 */
export function projectRun(
  before: RunProjection | undefined,
  key: RunKey,
  entry: Entry,
  seq: number,
): RunProjection | undefined {
  if (before === undefined) {
    return startRun(key, entry, seq);
  }
  if (entry.event.type === "run.retired") {
    return projectRetired(key, entry, seq);
  }
  const row = { ...before.row, head: seq, updatedAt: Math.max(before.row.updatedAt, entry.at) };
  const after = applyToRun(row, before.pending, entry);
  const isOpen = row.termination === undefined && after.row.termination === undefined;
  const status = isOpen ? statusOfOpen(after.pending) : after.row.status;
  return { ...before, ...after, row: status === after.row.status ? after.row : { ...after.row, status } };
}

function statusOfOpen(pending: readonly string[]): RunRow["status"] {
  return pending.length > 0 ? "waiting" : "running";
}

function startRun(key: RunKey, { at, event }: Entry, seq: number): RunProjection | undefined {
  if (event.type !== "run.started") {
    return undefined;
  }
  return {
    row: {
      tenant: key.tenant,
      runId: key.runId,
      agent: event.agent.name,
      conversationId: event.conversationId,
      principal: event.principal,
      input: event.input,
      status: "running",
      head: seq,
      startedAt: at,
      updatedAt: at,
    },
    pending: [],
    journalHash: JOURNAL_GENESIS,
  };
}

/** The run index of a run whose events were removed, from what its `run.retired` has kept; undefined for other events. */
export function projectRetired(key: RunKey, { event }: Entry, seq: number): RunProjection | undefined {
  if (event.type !== "run.retired") {
    return undefined;
  }
  const { agent, conversationId, principal, startedAt, endedAt, termination, journalHash } = event;
  const row: RunRow = {
    tenant: key.tenant,
    runId: key.runId,
    agent,
    conversationId,
    principal,
    input: "",
    status: statusOfEnded(termination),
    termination,
    head: seq,
    startedAt,
    updatedAt: endedAt,
  };
  return { row, pending: [], journalHash };
}

function statusOfEnded(termination: string): RunRow["status"] {
  return termination === "completed" ? "done" : "failed";
}

function applyToRun(row: RunRow, pending: readonly string[], { event }: Entry): Pick<RunProjection, "row" | "pending"> {
  const isOpen = row.termination === undefined;
  switch (event.type) {
    case "model.replied":
      return event.output.kind === "final" && isOpen
        ? { row: { ...row, answer: event.output.text }, pending }
        : { row, pending };
    case "approval.requested":
      return isOpen ? { row, pending: [...pending, event.approvalId] } : { row, pending };
    case "approval.resolved":
    case "approval.expired":
      return { row, pending: pending.filter((approvalId) => approvalId !== event.approvalId) };
    case "call.settled":
      return event.outcome.status === "unknown" && isOpen
        ? { row: { ...row, inDoubt: [...(row.inDoubt ?? []), event.callId] }, pending }
        : { row, pending };
    case "call.reconciled":
      return { row: withoutDoubt(row, event.callId), pending };
    case "message.queued":
      return { row: { ...row, nextRunId: row.nextRunId ?? event.nextRunId }, pending };
    case "run.followed": {
      const { nextRunId: _followed, ...rest } = row;
      return { row: rest, pending };
    }
    case "run.ended": {
      const termination = row.termination ?? terminationCode(event.termination);
      return { row: { ...row, status: statusOfEnded(termination), termination }, pending: [] };
    }
    default:
      return { row, pending };
  }
}

function withoutDoubt(row: RunRow, callId: string): RunRow {
  const { inDoubt = [], ...rest } = row;
  const left = inDoubt.filter((id) => id !== callId);
  return left.length === 0 ? rest : { ...rest, inDoubt: left };
}

/** A new line of the inbox. `facts` says which call is asked about and why. */
export function projectApproval(
  run: RunRow,
  event: EventOf<"approval.requested">,
  requestedAt: number,
  facts: CallFacts,
): ApprovalRow {
  const { approvalId, callId, argsHash, expiresAt } = event;
  return {
    tenant: run.tenant,
    runId: run.runId,
    approvalId,
    callId,
    agent: run.agent,
    ...facts,
    argsHash,
    requester: run.principal,
    // A question of a run that has already ended can never be acted on.
    status: run.termination === undefined ? "pending" : "void",
    requestedAt,
    expiresAt,
  };
}

/** The inbox line after an answer, an expiry or the end of its run; a line that is not pending stays as it is. */
export function projectAnswer(before: ApprovalRow, { at, event }: Entry): ApprovalRow {
  if (before.status !== "pending") {
    return before;
  }
  const close = (status: ApprovalStatus): ApprovalRow => ({ ...before, status, resolvedAt: at });
  switch (event.type) {
    case "approval.resolved":
      return {
        ...close(event.answer),
        resolvedBy: event.by,
        ...(event.note === undefined ? {} : { note: event.note }),
      };
    case "approval.expired":
      return close("expired");
    case "run.ended":
      return close("void");
    default:
      return before;
  }
}

/** Room that a budget has left under a limit; negative when it is overdrawn. */
export function budgetRoom(row: BudgetRow, limit: number): number {
  return limit - row.used - row.reserved;
}

/** The budget with one more reservation. */
export function projectReserved(before: BudgetRow, amount: number): BudgetRow {
  return { ...before, reserved: before.reserved + amount };
}

/** The budget after a reservation is settled at what was really used, which may be more than was reserved. */
export function projectSettled(before: BudgetRow, reservation: BudgetReservation, used: number): BudgetRow {
  // Saturates instead of losing exactness: a balance that is too high only ever refuses.
  const total = Math.min(before.used + used, Number.MAX_SAFE_INTEGER);
  return { ...before, used: total, reserved: before.reserved - reservation.amount };
}
