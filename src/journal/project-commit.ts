import type { Entry, RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { callFacts } from "./call-facts.ts";
import { JOURNAL_GENESIS, journalLink } from "./journal-chain.ts";
import type { PreparedEntry } from "./prepare-commit.ts";
import {
  type BudgetReservation,
  budgetRoom,
  projectAnswer,
  projectApproval,
  projectReserved,
  projectRetired,
  projectRun,
  projectSettled,
  type RunProjection,
} from "./projections.ts";
import type { ApprovalRow, BudgetRow, EventOf, RunKey } from "./store.ts";

/** What a store has stored before the commit; every function is synchronous, as all run inside one transaction. */
export interface ProjectionView {
  run(key: RunKey): RunProjection | undefined;
  approval(tenant: string, approvalId: string): ApprovalRow | undefined;
  /** A budget that nobody has used has zeros. */
  budget(tenant: string, budget: string): BudgetRow;
  reservation(key: RunKey, reservationId: string): BudgetReservation | undefined;
  /** Stored events of the run, the last one first; read lazily. */
  newestFirst(key: RunKey): Iterable<RunEvent>;
}

/** Rows to write; a reservation that maps to undefined is closed. */
export interface ProjectionChanges {
  readonly run: RunProjection;
  readonly approvals: ReadonlyMap<string, ApprovalRow>;
  readonly budgets: ReadonlyMap<string, BudgetRow>;
  readonly reservations: ReadonlyMap<string, BudgetReservation | undefined>;
}

/** What an audit record needs to know of its event's place in the run. */
export interface EventPlace {
  /** `journalLink` of the event. */
  readonly journalHash: string;
  /** Whether the run had ended before it. */
  readonly isAfterEnd: boolean;
}

export type ProjectedCommit =
  | {
      readonly status: "projected";
      readonly changes: ProjectionChanges;
      /** One for each entry. */
      readonly places: readonly EventPlace[];
    }
  | { readonly status: "refused"; readonly budget: string; readonly available: number; readonly reservationId: string };

interface Projecting {
  readonly view: ProjectionView;
  readonly key: RunKey;
  readonly entries: readonly Entry[];
  readonly approvals: Map<string, ApprovalRow>;
  readonly budgets: Map<string, BudgetRow>;
  readonly reservations: Map<string, BudgetReservation | undefined>;
}

/**
 * Works out every row that a commit changes, without writing anything.
 *
 * `isReplay` leaves out the check of budget limits: what was once accepted is accepted. Throws `BELAY_COMMIT_INVALID`
 * for events that no store may hold.
 */
export function projectCommit(
  view: ProjectionView,
  key: RunKey,
  head: number,
  entries: readonly PreparedEntry[],
  isReplay = false,
): ProjectedCommit {
  const projecting = { view, key, entries, approvals: new Map(), budgets: new Map(), reservations: new Map() };
  const places: EventPlace[] = [];
  let run = view.run(key);
  let journalHash = run?.journalHash ?? genesisOf(entries[0]?.event, isReplay);
  for (const [index, entry] of entries.entries()) {
    const before = run;
    const seq = head + index + 1;
    run = projectRun(run, key, entry, seq) ?? (isReplay ? projectRetired(key, entry, seq) : undefined);
    if (run === undefined) {
      throw invalid(key, `its first event is ${entry.event.type}`, "A run begins with run.started");
    }
    const refusal = projectEvent(projecting, { before: before ?? run, run, entry, index, isReplay });
    if (refusal !== undefined) {
      return refusal;
    }
    journalHash = journalLink(journalHash, { seq, at: entry.at, schema: entry.schema, textHash: entry.textHash });
    places.push({ journalHash, isAfterEnd: before?.row.termination !== undefined });
  }
  if (run === undefined) {
    throw invalid(key, "it holds no events", "Commit at least one event");
  }
  const { approvals, budgets, reservations } = projecting;
  return { status: "projected", changes: { run: { ...run, journalHash }, approvals, budgets, reservations }, places };
}

/** What a run's first stored event follows: nothing, or the events that were removed before it. */
function genesisOf(first: RunEvent | undefined, isReplay: boolean): string {
  return isReplay && first?.type === "run.retired" ? first.journalHash : JOURNAL_GENESIS;
}

interface Step {
  readonly before: RunProjection;
  readonly run: RunProjection;
  readonly entry: Entry;
  readonly index: number;
  readonly isReplay: boolean;
}

function projectEvent(projecting: Projecting, step: Step): ProjectedCommit | undefined {
  const { event } = step.entry;
  switch (event.type) {
    case "approval.requested":
      requestApproval(projecting, step, event);
      return undefined;
    case "approval.resolved":
    case "approval.expired":
      answerApproval(projecting, event.approvalId, step.entry);
      return undefined;
    case "run.ended":
      for (const approvalId of step.before.pending) {
        answerApproval(projecting, approvalId, step.entry);
      }
      return undefined;
    case "run.retired":
      if (step.isReplay && step.index === 0) {
        keepBudgets(projecting, event);
      }
      return undefined;
    case "budget.reserved":
      return reserveBudget(projecting, event, step.isReplay);
    case "budget.settled":
      closeReservation(projecting, event.reservationId, event.amount);
      return undefined;
    case "budget.released":
      closeReservation(projecting, event.reservationId, 0);
      return undefined;
    default:
      return undefined;
  }
}

function requestApproval(
  { view, key, entries, approvals }: Projecting,
  { before, entry, index }: Step,
  event: EventOf<"approval.requested">,
): void {
  const { approvalId, callId } = event;
  if (approvals.has(approvalId) || view.approval(key.tenant, approvalId) !== undefined) {
    throw invalid(key, `the approval ${approvalId} exists already`, "Give each approval of a tenant an id of its own");
  }
  const facts = callFacts(backwards(view, key, entries, index), callId);
  approvals.set(approvalId, projectApproval(before.row, event, entry.at, facts));
}

function* backwards(view: ProjectionView, key: RunKey, entries: readonly Entry[], index: number): Iterable<RunEvent> {
  for (const entry of entries.slice(0, index).reverse()) {
    yield entry.event;
  }
  yield* view.newestFirst(key);
}

function answerApproval({ view, key, approvals }: Projecting, approvalId: string, entry: Entry): void {
  const before = approvals.get(approvalId) ?? view.approval(key.tenant, approvalId);
  if (before !== undefined && before.runId === key.runId) {
    approvals.set(approvalId, projectAnswer(before, entry));
  }
}

function reserveBudget(
  projecting: Projecting,
  event: EventOf<"budget.reserved">,
  isReplay: boolean,
): ProjectedCommit | undefined {
  const { key, budgets, reservations } = projecting;
  if (openReservation(projecting, event.reservationId) !== undefined) {
    throw invalid(key, `the reservation ${event.reservationId} is open already`, "Settle or release it first");
  }
  const before = budgetOf(projecting, event.budget);
  const available = budgetRoom(before, event.limit);
  if (event.amount > available && !isReplay) {
    const { budget, reservationId } = event;
    return { status: "refused", budget, available: Math.max(0, available), reservationId };
  }
  budgets.set(event.budget, projectReserved(before, event.amount));
  reservations.set(event.reservationId, { budget: event.budget, amount: event.amount });
  return undefined;
}

function keepBudgets(projecting: Projecting, { budgets }: EventOf<"run.retired">): void {
  for (const { budget, used } of budgets) {
    projecting.budgets.set(budget, { ...budgetOf(projecting, budget), used });
  }
}

/** The budget is the reservation's own: an event that names another one cannot move money between them. */
function closeReservation(projecting: Projecting, reservationId: string, used: number): void {
  const reservation = openReservation(projecting, reservationId);
  if (reservation !== undefined) {
    const before = budgetOf(projecting, reservation.budget);
    projecting.budgets.set(reservation.budget, projectSettled(before, reservation, used));
    projecting.reservations.set(reservationId, undefined);
  }
}

function openReservation({ view, key, reservations }: Projecting, id: string): BudgetReservation | undefined {
  return reservations.has(id) ? reservations.get(id) : view.reservation(key, id);
}

function budgetOf({ view, key, budgets }: Projecting, budget: string): BudgetRow {
  return budgets.get(budget) ?? view.budget(key.tenant, budget);
}

function invalid(key: RunKey, problem: string, remedy: string): BelayError {
  return new BelayError("BELAY_COMMIT_INVALID", `A commit to run ${key.runId} was refused: ${problem}. ${remedy}.`);
}
