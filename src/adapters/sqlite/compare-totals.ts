import { parseFrontier } from "../../audit/index.ts";
import { type BudgetRow, type Repair, rowName, toBudgetRow } from "../../journal/index.ts";
import { type Mend, ROWS } from "./compare-run.ts";
import { writeBudget } from "./projection-tables.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

export function compareBudgets(handle: SqliteHandle, derived: ReadonlyMap<string, BudgetRow>): readonly Repair<Mend>[] {
  const rows = handle.allLoose("SELECT * FROM budgets").map((row) => {
    return toBudgetRow(String(row["tenant"]), String(row["budget"]), row);
  });
  const stored = new Map(rows.map((row) => [rowName(row.tenant, row.budget), row]));
  const nameOf = (name: string): string => name;
  return ROWS.compareRows("budgets", stored, derived, nameOf, (_name, after, before) => () => {
    if (after !== undefined) {
      writeBudget(handle, after);
    } else if (before !== undefined) {
      handle.run("DELETE FROM budgets WHERE tenant = ? AND budget = ?", before.tenant, before.budget);
    }
  });
}

const OF_A_RUN = [
  { table: "runs", ids: ["tenant", "run_id"] },
  { table: "approvals", ids: ["tenant", "approval_id"] },
  { table: "reservations", ids: ["tenant", "run_id", "reservation_id"] },
] as const;

/** Rows of runs of which the journal has nothing. */
export function findStrangers(handle: SqliteHandle): readonly Repair<Mend>[] {
  return OF_A_RUN.flatMap(({ table, ids }) => {
    const sql = `SELECT * FROM ${table} WHERE NOT EXISTS (SELECT 1 FROM journal
      WHERE journal.tenant = ${table}.tenant AND journal.run_id = ${table}.run_id)`;
    return handle.allLoose(sql).flatMap((stored) => {
      const values = ids.map((id) => String(stored[id]));
      const where = ids.map((id) => `${id} = ?`).join(" AND ");
      return ROWS.repairs(table, rowName(...values), { ...stored }, undefined, () => {
        handle.run(`DELETE FROM ${table} WHERE ${where}`, ...values);
      });
    });
  });
}

/** The notes beside the tree: how many records it has, and the newest time that was seen. */
export function compareAuditState(
  handle: SqliteHandle,
  newestAt: number,
  mend: (newestAt: number) => void,
): readonly Repair<Mend>[] {
  const [row] = handle.allLoose("SELECT size, frontier, newest_at FROM audit_state WHERE id = 1");
  const frontier = parseFrontier(row?.["frontier"]);
  // One that is unreadable is a verdict on the log itself.
  const size = frontier?.size ?? row?.["size"];
  return [
    ...ROWS.repairs("audit_state", "size", row?.["size"], size, () => mend(newestAt)),
    ...ROWS.repairs("audit_state", "newest_at", row?.["newest_at"], newestAt, () => mend(newestAt)),
  ];
}
