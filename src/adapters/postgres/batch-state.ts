import type { RunEvent } from "../../core/index.ts";
import type {
  ApprovalRow,
  BudgetReservation,
  BudgetRow,
  JournalLine,
  ProjectionChanges,
  ProjectionView,
  RunKey,
  RunProjection,
  UnplacedRecord,
} from "../../journal/index.ts";
import { runName } from "./commit-job.ts";

/** A run as the commits of one transaction see it. */
export interface BatchRun {
  readonly key: RunKey;
  /** Entries of its journal, those of this transaction included. */
  head: number;
  projection: RunProjection | undefined;
  /** Head before this transaction; 0 for a new run. */
  readonly storedHead: number;
  readonly isIndexed: boolean;
  /** The stored end of the journal, as far as somebody needs it; the newest first. */
  history: readonly RunEvent[];
  /** Events of this transaction, the oldest first. */
  readonly added: RunEvent[];
}

/** A row and whether the table has it already. */
interface BatchRow<Row> {
  row: Row;
  readonly isStored: boolean;
  isChanged: boolean;
}

interface BatchReservation {
  readonly run: RunKey;
  readonly reservationId: string;
  reservation: BudgetReservation | undefined;
  isChanged: boolean;
}

/** What the commits of one transaction have read and will write. */
export interface BatchState extends ProjectionView {
  readonly runs: Map<string, BatchRun>;
  readonly approvals: Map<string, BatchRow<ApprovalRow>>;
  readonly budgets: Map<string, BatchRow<BudgetRow>>;
  readonly reservations: Map<string, BatchReservation>;
  readonly lines: JournalLine[];
  readonly records: (UnplacedRecord & { readonly run: RunKey })[];
  readonly blobs: Map<string, string>;
  /** Takes over what one commit changes; nothing before this call has changed anything. */
  apply(run: BatchRun, lines: readonly JournalLine[], events: readonly RunEvent[], changes: ProjectionChanges): void;
}

export function rowKey(...ids: readonly string[]): string {
  return JSON.stringify(ids);
}

export function createBatchState(): BatchState {
  const runs = new Map<string, BatchRun>();
  const approvals = new Map<string, BatchRow<ApprovalRow>>();
  const budgets = new Map<string, BatchRow<BudgetRow>>();
  const reservations = new Map<string, BatchReservation>();
  const lines: JournalLine[] = [];
  return {
    runs,
    approvals,
    budgets,
    reservations,
    lines,
    records: [],
    blobs: new Map(),
    run: (key) => runs.get(runName(key))?.projection,
    approval: (tenant, approvalId) => approvals.get(rowKey(tenant, approvalId))?.row,
    budget: (tenant, budget) => budgets.get(rowKey(tenant, budget))?.row ?? { tenant, budget, used: 0, reserved: 0 },
    reservation: ({ tenant, runId }, id) => reservations.get(rowKey(tenant, runId, id))?.reservation,
    newestFirst: (key) => {
      const run = runs.get(runName(key));
      return run === undefined ? [] : [...run.added.toReversed(), ...run.history];
    },
    apply: (run, newLines, events, changes) => {
      lines.push(...newLines);
      run.head += newLines.length;
      run.added.push(...events);
      run.projection = changes.run;
      const { tenant, runId } = run.key;
      for (const [approvalId, row] of changes.approvals) {
        put(approvals, rowKey(tenant, approvalId), row);
      }
      for (const [budget, row] of changes.budgets) {
        put(budgets, rowKey(tenant, budget), row);
      }
      for (const [reservationId, reservation] of changes.reservations) {
        const changed = { run: run.key, reservationId, reservation, isChanged: true };
        reservations.set(rowKey(tenant, runId, reservationId), changed);
      }
    },
  };
}

function put<Row>(rows: Map<string, BatchRow<Row>>, key: string, row: Row): void {
  rows.set(key, { row, isStored: rows.get(key)?.isStored ?? false, isChanged: true });
}
