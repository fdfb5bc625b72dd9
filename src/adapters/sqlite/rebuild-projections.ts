import { isDeepStrictEqual } from "node:util";
import {
  type ApprovalRow,
  type BudgetReservation,
  type BudgetRow,
  decodeLine,
  type ProjectionView,
  projectCommit,
  type RunKey,
  type RunProjection,
  type Store,
} from "../../journal/index.ts";
import { createSqliteView, writeApproval, writeBudget, writeReservation, writeRun } from "./projection-tables.ts";
import { toJournalLine } from "./rows.ts";
import { handleOf, type SqliteHandle } from "./sqlite-handle.ts";

/** A derived row that was not what the journal says. */
export interface ProjectionDifference {
  readonly table: "runs" | "approvals" | "budgets" | "reservations";
  /** Tenant and ids of the row, joined by a slash. */
  readonly row: string;
  /** What was stored; absent when the row was missing. */
  readonly stored?: unknown;
  /** What the journal says; absent when there should be no such row. */
  readonly derived?: unknown;
}

interface Rebuilt {
  readonly key: RunKey;
  readonly run: RunProjection;
  readonly approvals: ReadonlyMap<string, ApprovalRow>;
  readonly reservations: ReadonlyMap<string, BudgetReservation | undefined>;
}

interface Rebuild {
  readonly handle: SqliteHandle;
  readonly isDryRun: boolean;
  readonly differences: ProjectionDifference[];
  readonly budgets: Map<string, BudgetRow>;
  /** Table and row of everything that the journal accounts for. */
  readonly derivedRows: Set<string>;
}

/**
 * Derives runs, approvals and budgets from the journal again, and mends what is different, in one transaction.
 *
 * With `dryRun` nothing is written. Returns the differences found. Throws `BELAY_STORE_MISMATCH` for a store of
 * another kind, `BELAY_JOURNAL_TOO_NEW` and `BELAY_STORE_CORRUPT` when the journal cannot be read.
 */
export async function rebuildProjections(
  store: Store,
  options: { readonly dryRun?: boolean } = {},
): Promise<readonly ProjectionDifference[]> {
  const handle = handleOf(store);
  return handle.write(() => {
    const rebuild: Rebuild = {
      handle,
      isDryRun: options.dryRun === true,
      differences: [],
      budgets: new Map(),
      derivedRows: new Set(),
    };
    for (const key of startedRuns(handle)) {
      compareRun(rebuild, deriveRun(rebuild, key));
    }
    compareBudgets(rebuild);
    removeStrangers(rebuild);
    return rebuild.differences;
  });
}

/** In the order in which they were started, so that rows put back keep their place among their equals. */
function startedRuns(handle: SqliteHandle): readonly RunKey[] {
  const sql = `SELECT journal.tenant, journal.run_id FROM journal
    LEFT JOIN audit ON audit.run_seq = 1 AND audit.tenant = journal.tenant AND audit.run_id = journal.run_id
    WHERE journal.seq = 1 ORDER BY audit.seq`;
  return handle.all(sql).map((row) => ({ tenant: String(row["tenant"]), runId: String(row["run_id"]) }));
}

function deriveRun({ handle, budgets }: Rebuild, key: RunKey): Rebuilt {
  const rows = handle.all("SELECT * FROM journal WHERE tenant = ? AND run_id = ? ORDER BY seq", key.tenant, key.runId);
  const entries = rows.map((row) => decodeLine(toJournalLine(row)));
  const empty: ProjectionView = {
    run: () => undefined,
    approval: () => undefined,
    budget: (tenant, budget) => budgets.get(rowName(tenant, budget)) ?? { tenant, budget, used: 0, reserved: 0 },
    reservation: () => undefined,
    newestFirst: () => [],
  };
  const projected = projectCommit(empty, key, 0, entries, true);
  if (projected.status === "refused") {
    throw new Error("a replay refuses no reservation");
  }
  const { run, approvals, reservations } = projected.changes;
  for (const row of projected.changes.budgets.values()) {
    budgets.set(rowName(row.tenant, row.budget), row);
  }
  return { key, run, approvals, reservations };
}

function compareRun(rebuild: Rebuild, { key, run, approvals, reservations }: Rebuilt): void {
  const { handle } = rebuild;
  const stored = createSqliteView(handle);
  const name = rowName(key.tenant, key.runId);
  compare(rebuild, { table: "runs", row: name, stored: stored.run(key), derived: run }, () => writeRun(handle, run));
  for (const [approvalId, derived] of approvals) {
    const row = rowName(key.tenant, approvalId);
    compare(rebuild, { table: "approvals", row, stored: stored.approval(key.tenant, approvalId), derived }, () =>
      writeApproval(handle, derived),
    );
  }
  for (const [reservationId, derived] of reservations) {
    const row = rowName(key.tenant, key.runId, reservationId);
    compare(rebuild, { table: "reservations", row, stored: stored.reservation(key, reservationId), derived }, () =>
      writeReservation(handle, key, reservationId, derived),
    );
  }
}

function compareBudgets(rebuild: Rebuild): void {
  const { handle, budgets } = rebuild;
  const stored = createSqliteView(handle);
  for (const [row, derived] of budgets) {
    const before = stored.budget(derived.tenant, derived.budget);
    compare(rebuild, { table: "budgets", row, stored: before, derived }, () => writeBudget(handle, derived));
  }
}

const TABLES = [
  { table: "runs", ids: ["tenant", "run_id"] },
  { table: "approvals", ids: ["tenant", "approval_id"] },
  { table: "budgets", ids: ["tenant", "budget"] },
  { table: "reservations", ids: ["tenant", "run_id", "reservation_id"] },
] as const;

/** Removes rows that no event accounts for. */
function removeStrangers({ handle, derivedRows, differences, isDryRun }: Rebuild): void {
  for (const { table, ids } of TABLES) {
    for (const stored of handle.all(`SELECT * FROM ${table}`)) {
      const values = ids.map((id) => String(stored[id]));
      const row = values.join("/");
      if (derivedRows.has(`${table} ${row}`)) {
        continue;
      }
      differences.push({ table, row, stored });
      if (!isDryRun) {
        handle.run(`DELETE FROM ${table} WHERE ${ids.map((id) => `${id} = ?`).join(" AND ")}`, ...values);
      }
    }
  }
}

function compare(rebuild: Rebuild, { table, row, stored, derived }: ProjectionDifference, write: () => void): void {
  if (derived !== undefined) {
    rebuild.derivedRows.add(`${table} ${row}`);
  }
  if (!isDeepStrictEqual(stored, derived)) {
    rebuild.differences.push({
      table,
      row,
      ...(stored === undefined ? {} : { stored }),
      ...(derived === undefined ? {} : { derived }),
    });
    if (!rebuild.isDryRun) {
      write();
    }
  }
}

function rowName(...ids: readonly string[]): string {
  return ids.join("/");
}
