import { isDeepStrictEqual } from "node:util";
import { BelayError } from "../../errors.ts";
import {
  type DerivedRun,
  rowName,
  type StoreDifference,
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

/** A difference and the statement that makes it right. */
export interface Repair {
  readonly difference: StoreDifference;
  readonly mend: Statement;
}

/** The derived rows of one run as they are stored. */
export interface StoredRun {
  readonly run: StoredRow | undefined;
  readonly approvals: readonly StoredRow[];
  readonly reservations: readonly StoredRow[];
}

/** What stands in for a row whose columns cannot be read. */
const UNREADABLE = { unreadable: true };

/** Holds the derived rows of a run against what its journal says. */
export function compareRun(schema: string, derived: DerivedRun, stored: StoredRun): readonly Repair[] {
  return [
    ...compareIndex(schema, derived, stored),
    ...compareApprovals(schema, derived, stored),
    ...compareReservations(schema, derived, stored),
  ];
}

function compareIndex(schema: string, { key, run }: DerivedRun, stored: StoredRun): readonly Repair[] {
  const before = stored.run && readable(stored.run, toRunProjection);
  const mend = putRow(schema, RUNS, ["tenant", "run_id"], runParams(run));
  return repairs("runs", rowName(key.tenant, key.runId), before, run, mend);
}

function compareApprovals(schema: string, { key, approvals }: DerivedRun, stored: StoredRun): readonly Repair[] {
  const rows = byId(stored.approvals, "approval_id", toApprovalRow);
  return [...new Set([...approvals.keys(), ...rows.keys()])].flatMap((id) => {
    const row = approvals.get(id);
    const mend =
      row === undefined
        ? deleteRow(schema, "approvals", { tenant: key.tenant, approval_key: indexKey(id) })
        : putRow(schema, APPROVALS, ["tenant", "approval_key"], approvalParams(row));
    return repairs("approvals", rowName(key.tenant, id), rows.get(id), row, mend);
  });
}

function compareReservations(schema: string, { key, reservations }: DerivedRun, stored: StoredRun): readonly Repair[] {
  const rows = byId(stored.reservations, "reservation_id", toReservation);
  return [...new Set([...reservations.keys(), ...rows.keys()])].flatMap((id) => {
    const row = reservations.get(id);
    const keys = { tenant: key.tenant, run_id: key.runId, reservation_key: indexKey(id) };
    const mend =
      row === undefined
        ? deleteRow(schema, "reservations", keys)
        : putRow(schema, RESERVATIONS, Object.keys(keys), reservationParams(key, id, row));
    return repairs("reservations", rowName(key.tenant, key.runId, id), rows.get(id), row, mend);
  });
}

function byId(rows: readonly StoredRow[], id: string, read: (row: StoredRow) => unknown): Map<string, unknown> {
  return new Map(rows.map((row) => [String(row[id]), readable(row, read)]));
}

/** The one repair that a row needs, or none. */
export function repairs(
  table: StoreDifference["table"],
  row: string,
  stored: unknown,
  derived: unknown,
  mend: Statement,
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

export function deleteRow(schema: string, table: string, keys: Readonly<Record<string, string>>): Statement {
  const where = Object.keys(keys).map((column, index) => `${column} = $${index + 1}`);
  return { sql: `DELETE FROM ${schema}.${table} WHERE ${where.join(" AND ")}`, values: Object.values(keys) };
}

function readable(row: StoredRow, read: (row: StoredRow) => unknown): unknown {
  try {
    return read(row);
  } catch (error) {
    if (error instanceof BelayError) {
      return UNREADABLE;
    }
    throw error;
  }
}
