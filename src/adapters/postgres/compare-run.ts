import { isDeepStrictEqual } from "node:util";
import {
  type DerivedRun,
  type Repair,
  type RowComparison,
  readRow,
  readRows,
  rowComparison,
  rowName,
  type StoredRow,
  toApprovalRow,
  toReservation,
  toRunProjection,
} from "../../journal/index.ts";
import { approvalParams, reservationParams, runParams } from "./row-params.ts";
import type { Statement } from "./session.ts";
import { APPROVALS, RESERVATIONS, RUNS } from "./tables.ts";
import { indexKey } from "./text-code.ts";
import { putRow } from "./write-batch.ts";

export const ROWS: RowComparison = rowComparison(isDeepStrictEqual);

/** The derived rows of one run as they are stored. */
export interface StoredRun {
  readonly run: StoredRow | undefined;
  readonly approvals: readonly StoredRow[];
  readonly reservations: readonly StoredRow[];
}

/** Holds the derived rows of a run against what its journal says. */
export function compareRun(schema: string, derived: DerivedRun, stored: StoredRun): readonly Repair<Statement>[] {
  return [
    ...compareIndex(schema, derived, stored),
    ...compareApprovals(schema, derived, stored),
    ...compareReservations(schema, derived, stored),
  ];
}

function compareIndex(schema: string, { key, run }: DerivedRun, stored: StoredRun): readonly Repair<Statement>[] {
  const before = stored.run && readRow(stored.run, toRunProjection);
  const mend = putRow(schema, RUNS, ["tenant", "run_id"], runParams(run));
  return ROWS.repairs("runs", rowName(key.tenant, key.runId), before, run, mend);
}

function compareApprovals(
  schema: string,
  { key, approvals }: DerivedRun,
  stored: StoredRun,
): readonly Repair<Statement>[] {
  const rows = readRows(stored.approvals, "approval_id", toApprovalRow);
  const nameOf = (id: string): string => rowName(key.tenant, id);
  return ROWS.compareRows("approvals", rows, approvals, nameOf, (id, row) =>
    row === undefined
      ? deleteRow(schema, "approvals", { tenant: key.tenant, approval_key: indexKey(id) })
      : putRow(schema, APPROVALS, ["tenant", "approval_key"], approvalParams(row)),
  );
}

function compareReservations(
  schema: string,
  { key, reservations }: DerivedRun,
  stored: StoredRun,
): readonly Repair<Statement>[] {
  const rows = readRows(stored.reservations, "reservation_id", toReservation);
  const nameOf = (id: string): string => rowName(key.tenant, key.runId, id);
  return ROWS.compareRows("reservations", rows, reservations, nameOf, (id, row) => {
    const keys = { tenant: key.tenant, run_id: key.runId, reservation_key: indexKey(id) };
    return row === undefined
      ? deleteRow(schema, "reservations", keys)
      : putRow(schema, RESERVATIONS, Object.keys(keys), reservationParams(key, id, row));
  });
}

export function deleteRow(schema: string, table: string, keys: Readonly<Record<string, string>>): Statement {
  const where = Object.keys(keys).map((column, index) => `${column} = $${index + 1}`);
  return { sql: `DELETE FROM ${schema}.${table} WHERE ${where.join(" AND ")}`, values: Object.values(keys) };
}
