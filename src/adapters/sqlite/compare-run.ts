import { isDeepStrictEqual } from "node:util";
import {
  type DerivedRun,
  type Repair,
  type RowComparison,
  readRow,
  readRows,
  rowComparison,
  rowName,
  toApprovalRow,
  toReservation,
  toRunProjection,
} from "../../journal/index.ts";
import { writeApproval, writeReservation, writeRun } from "./projection-tables.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

export const ROWS: RowComparison = rowComparison(isDeepStrictEqual);

/** Makes a difference right; only inside `write`. */
export type Mend = () => void;

/** Holds the derived rows of a run against what its journal says. */
export function compareRun(handle: SqliteHandle, derived: DerivedRun): readonly Repair<Mend>[] {
  return [
    ...compareIndex(handle, derived),
    ...compareApprovals(handle, derived),
    ...compareReservations(handle, derived),
  ];
}

function compareIndex(handle: SqliteHandle, { key, run }: DerivedRun): readonly Repair<Mend>[] {
  const [row] = handle.allLoose("SELECT * FROM runs WHERE tenant = ? AND run_id = ?", key.tenant, key.runId);
  const stored = row && readRow(row, toRunProjection);
  return ROWS.repairs("runs", rowName(key.tenant, key.runId), stored, run, () => writeRun(handle, run, undefined));
}

function compareApprovals(handle: SqliteHandle, { key, approvals }: DerivedRun): readonly Repair<Mend>[] {
  const sql = "SELECT * FROM approvals WHERE tenant = ? AND run_id = ?";
  const stored = readRows(handle.allLoose(sql, key.tenant, key.runId), "approval_id", toApprovalRow);
  const nameOf = (id: string): string => rowName(key.tenant, id);
  return ROWS.compareRows("approvals", stored, approvals, nameOf, (id, derived) => () => {
    if (derived === undefined) {
      handle.run("DELETE FROM approvals WHERE tenant = ? AND approval_id = ?", key.tenant, id);
    } else {
      writeApproval(handle, derived);
    }
  });
}

function compareReservations(handle: SqliteHandle, { key, reservations }: DerivedRun): readonly Repair<Mend>[] {
  const sql = "SELECT * FROM reservations WHERE tenant = ? AND run_id = ?";
  const stored = readRows(handle.allLoose(sql, key.tenant, key.runId), "reservation_id", toReservation);
  const nameOf = (id: string): string => rowName(key.tenant, key.runId, id);
  return ROWS.compareRows("reservations", stored, reservations, nameOf, (id, derived) => () => {
    writeReservation(handle, key, id, derived);
  });
}
