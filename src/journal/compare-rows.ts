import { BelayError } from "../errors.ts";
import type { StoreDifference } from "./store.ts";
import type { StoredRow } from "./stored-rows.ts";

/** What stands in for a row whose columns cannot be read. */
const UNREADABLE = { unreadable: true };

/** A difference and what makes it right, in the store's own terms. */
export interface Repair<Mend> {
  readonly difference: StoreDifference;
  readonly mend: Mend;
}

export interface RowComparison {
  /** The one repair that a row needs, or none. */
  repairs<Mend>(
    table: StoreDifference["table"],
    row: string,
    stored: unknown,
    derived: unknown,
    mend: Mend,
  ): readonly Repair<Mend>[];
  /** What each row needs that is stored, derived or both; rows are told apart by their ids. */
  compareRows<Stored, Derived, Mend>(
    table: StoreDifference["table"],
    stored: ReadonlyMap<string, Stored>,
    derived: ReadonlyMap<string, Derived>,
    nameOf: (id: string) => string,
    mendOf: (id: string, derived: Derived | undefined, stored: Stored | undefined) => Mend,
  ): readonly Repair<Mend>[];
}

/** Holds stored rows against derived ones. `isSame` is given, because that of Node is beyond what the root may load. */
export function rowComparison(isSame: (stored: unknown, derived: unknown) => boolean): RowComparison {
  const repairs: RowComparison["repairs"] = (table, row, stored, derived, mend) => {
    if (isSame(stored, derived)) {
      return [];
    }
    const difference = {
      table,
      row,
      ...(stored === undefined ? {} : { stored }),
      ...(derived === undefined ? {} : { derived }),
    };
    return [{ difference, mend }];
  };
  return {
    repairs,
    compareRows: (table, stored, derived, nameOf, mendOf) =>
      [...new Set([...derived.keys(), ...stored.keys()])].flatMap((id) => {
        const [before, after] = [stored.get(id), derived.get(id)];
        return repairs(table, nameOf(id), before, after, mendOf(id, after, before));
      }),
  };
}

/** Stored rows as `read` understands them, by the id in a column; what cannot be read differs from everything. */
export function readRows(
  rows: readonly StoredRow[],
  id: string,
  read: (row: StoredRow) => unknown,
): ReadonlyMap<string, unknown> {
  return new Map(rows.map((row) => [String(row[id]), readRow(row, read)]));
}

export function readRow(row: StoredRow, read: (row: StoredRow) => unknown): unknown {
  try {
    return read(row);
  } catch (error) {
    if (error instanceof BelayError) {
      return UNREADABLE;
    }
    throw error;
  }
}
