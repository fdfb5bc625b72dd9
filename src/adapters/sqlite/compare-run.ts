import { isDeepStrictEqual } from "node:util";
import { BelayError } from "../../errors.ts";
import {
  type ApprovalRow,
  type BudgetReservation,
  type DerivedRun,
  type RunKey,
  rowName,
  type StoreDifference,
  toApprovalRow,
  toReservation,
  toRunProjection,
} from "../../journal/index.ts";
import { writeApproval, writeReservation, writeRun } from "./projection-tables.ts";
import type { SqliteHandle, SqliteRow } from "./sqlite-handle.ts";

/** A difference and what makes it right. */
export interface Repair {
  readonly difference: StoreDifference;
  /** Only inside `write`. */
  mend(): void;
}

/** What stands in for a row whose columns cannot be read. */
const UNREADABLE = { unreadable: true };

/** Holds the derived rows of a run against what its journal says. */
export function compareRun(handle: SqliteHandle, derived: DerivedRun): readonly Repair[] {
  return [
    ...compareIndex(handle, derived),
    ...compareApprovals(handle, derived),
    ...compareReservations(handle, derived),
  ];
}

function compareIndex(handle: SqliteHandle, { key, run }: DerivedRun): readonly Repair[] {
  const [row] = handle.allLoose("SELECT * FROM runs WHERE tenant = ? AND run_id = ?", key.tenant, key.runId);
  const stored = row && readable(() => toRunProjection(row));
  return repairs("runs", rowName(key.tenant, key.runId), stored, run, () => writeRun(handle, run, undefined));
}

function compareApprovals(handle: SqliteHandle, { key, approvals }: DerivedRun): readonly Repair[] {
  const sql = "SELECT * FROM approvals WHERE tenant = ? AND run_id = ?";
  const stored = byId(handle.allLoose(sql, key.tenant, key.runId), "approval_id", toApprovalRow);
  const ids = new Set([...approvals.keys(), ...stored.keys()]);
  return [...ids].flatMap((id) => {
    const derived: ApprovalRow | undefined = approvals.get(id);
    return repairs("approvals", rowName(key.tenant, id), stored.get(id), derived, () => {
      if (derived === undefined) {
        handle.run("DELETE FROM approvals WHERE tenant = ? AND approval_id = ?", key.tenant, id);
      } else {
        writeApproval(handle, derived);
      }
    });
  });
}

function compareReservations(handle: SqliteHandle, { key, reservations }: DerivedRun): readonly Repair[] {
  const sql = "SELECT * FROM reservations WHERE tenant = ? AND run_id = ?";
  const stored = byId(handle.allLoose(sql, key.tenant, key.runId), "reservation_id", toReservation);
  const ids = new Set([...reservations.keys(), ...stored.keys()]);
  return [...ids].flatMap((id) => {
    const derived: BudgetReservation | undefined = reservations.get(id);
    return repairs("reservations", rowName(key.tenant, key.runId, id), stored.get(id), derived, () =>
      writeReservation(handle, key, id, derived),
    );
  });
}

function byId(rows: readonly SqliteRow[], id: string, read: (row: SqliteRow) => unknown): Map<string, unknown> {
  return new Map(rows.map((row) => [String(row[id]), readable(() => read(row))]));
}

/** The one repair that a row needs, or none. */
export function repairs(
  table: StoreDifference["table"],
  row: string,
  stored: unknown,
  derived: unknown,
  mend: () => void,
): readonly Repair[] {
  if (isDeepStrictEqual(stored, derived)) {
    return [];
  }
  const difference = {
    table,
    row,
    ...(stored === undefined ? {} : { stored }),
    ...(derived === undefined ? {} : { derived }),
  };
  return [{ difference, mend }];
}

function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof BelayError) {
      return UNREADABLE;
    }
    throw error;
  }
}

export function keyOf(row: SqliteRow): RunKey {
  return { tenant: String(row["tenant"]), runId: String(row["run_id"]) };
}
