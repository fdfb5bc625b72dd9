import { type BudgetRow, type Repair, rowName, toBudgetRow } from "../../journal/index.ts";
import { deleteRow, ROWS } from "./compare-run.ts";
import { budgetParams } from "./row-params.ts";
import type { Session, Statement } from "./session.ts";
import { APPROVALS, BUDGETS, columnsOf, RESERVATIONS, RUNS } from "./tables.ts";
import { indexKey } from "./text-code.ts";
import { putRow } from "./write-batch.ts";

/** A line of zeros says what no line says. */
function isUsed(row: BudgetRow): boolean {
  return row.used !== 0 || row.reserved !== 0;
}

export async function compareBudgets(
  session: Session,
  schema: string,
  derived: ReadonlyMap<string, BudgetRow>,
): Promise<readonly Repair<Statement>[]> {
  const rows = (await session.allLoose(`SELECT tenant, budget, used, reserved FROM ${schema}.budgets`)).map((row) => {
    return toBudgetRow(String(row["tenant"]), String(row["budget"]), row);
  });
  const stored = new Map(rows.filter(isUsed).map((row) => [rowName(row.tenant, row.budget), row]));
  const wanted = new Map([...derived].filter(([, row]) => isUsed(row)));
  const nameOf = (name: string): string => name;
  return ROWS.compareRows("budgets", stored, wanted, nameOf, (_name, after, before) => {
    const { tenant, budget } = after ?? before ?? { tenant: "", budget: "" };
    return after === undefined
      ? deleteRow(schema, "budgets", { tenant, budget_key: indexKey(budget) })
      : putRow(schema, BUDGETS, ["tenant", "budget_key"], budgetParams(after));
  });
}

const OF_A_RUN = [
  { table: RUNS, name: "runs", shown: ["tenant", "run_id"], keys: ["tenant", "run_id"] },
  { table: APPROVALS, name: "approvals", shown: ["tenant", "approval_id"], keys: ["tenant", "approval_key"] },
  {
    table: RESERVATIONS,
    name: "reservations",
    shown: ["tenant", "run_id", "reservation_id"],
    keys: ["tenant", "run_id", "reservation_key"],
  },
] as const;

/** Rows of runs of which the journal has nothing. */
export async function findStrangers(session: Session, schema: string): Promise<readonly Repair<Statement>[]> {
  const found: Repair<Statement>[] = [];
  for (const { table, name, shown, keys } of OF_A_RUN) {
    const sql = `SELECT ${columnsOf(table)} FROM ${schema}.${name} t WHERE NOT EXISTS (
      SELECT 1 FROM ${schema}.journal j WHERE j.tenant = t.tenant AND j.run_id = t.run_id)`;
    for (const row of await session.allLoose(sql)) {
      const where = Object.fromEntries(keys.map((key) => [key, String(row[key])]));
      const title = rowName(...shown.map((column) => String(row[column])));
      found.push(...ROWS.repairs(name, title, { ...row }, undefined, deleteRow(schema, name, where)));
    }
  }
  return found;
}
