import type { BatchState } from "./batch-state.ts";
import { TornRun } from "./postgres-error.ts";
import { approvalParams, budgetParams, lineParams, reservationParams, runParams } from "./row-params.ts";
import type { Session, Statement } from "./session.ts";
import {
  APPROVAL_STATE,
  APPROVALS,
  AUDIT_RECORDS,
  arraysOf,
  BLOBS,
  BUDGETS,
  columnsOf,
  JOURNAL,
  RESERVATIONS,
  RUN_STATE,
  RUNS,
  type Table,
  type TableRow,
  unnestOf,
} from "./tables.ts";
import { indexKey } from "./text-code.ts";

/**
 * Writes all that the commits of a transaction have changed.
 *
 * Throws `TornRun` when the journal of a run does not end where its line says, which only an edited database does, and
 * when a blob was removed at this moment.
 */
export async function writeBatch(session: Session, schema: string, state: BatchState): Promise<void> {
  const results = await session.each([
    writeJournal(schema, state),
    ...writeRuns(schema, state),
    ...writeRecords(schema, state),
    ...writeApprovals(schema, state),
    ...writeBudgets(schema, state),
    ...writeReservations(schema, state),
    ...writeBlobs(schema, state),
  ]);
  if (Number(results[0]?.[0]?.["torn"]) > 0) {
    throw new TornRun("the journal of a run does not end where its line says");
  }
  if (state.blobs.size > 0 && results.at(-1)?.length !== state.blobs.size) {
    throw new TornRun("a blob that was there is gone");
  }
}

/** Also counts the runs whose last stored event is not there. */
function writeJournal(schema: string, { lines, runs }: BatchState): Statement {
  const continued = [...runs.values()].filter((run) => run.head > run.storedHead && run.storedHead > 0);
  const at = Object.keys(JOURNAL.columns).length;
  return {
    sql: `WITH written AS (${insertInto(schema, JOURNAL)})
      SELECT count(*) AS torn
      FROM unnest($${at + 1}::text[], $${at + 2}::text[], $${at + 3}::bigint[]) AS r (tenant, run_id, head)
      WHERE NOT EXISTS (SELECT 1 FROM ${schema}.journal j
        WHERE j.tenant = r.tenant AND j.run_id = r.run_id AND j.seq = r.head)`,
    values: [
      ...arraysOf(JOURNAL, lines.map(lineParams)),
      continued.map(({ key }) => key.tenant),
      continued.map(({ key }) => key.runId),
      continued.map(({ storedHead }) => storedHead),
    ],
  };
}

function writeRuns(schema: string, { runs }: BatchState): readonly Statement[] {
  const changed = [...runs.values()].flatMap((run) =>
    run.projection === undefined || run.head === run.storedHead ? [] : [{ ...run, projection: run.projection }],
  );
  const paramsOf = (isIndexed: boolean) =>
    changed.filter((run) => run.isIndexed === isIndexed).map((run) => runParams(run.projection));
  return [
    ...insertRows(schema, RUNS, paramsOf(false)),
    // A commit ends a pause.
    ...updateRows(schema, RUN_STATE, ["tenant", "run_id"], paramsOf(true), "paused_until = NULL"),
  ];
}

/** Their ids are given out in the order of the events, which the sequencer keeps. */
function writeRecords(schema: string, { records }: BatchState): readonly Statement[] {
  if (records.length === 0) {
    return [];
  }
  const columns = columnsOf(AUDIT_RECORDS);
  const rows = records.map(({ run, runSeq, text, leaf }) => {
    return { tenant: run.tenant, run_id: run.runId, run_seq: runSeq, text, leaf };
  });
  return [
    {
      sql: `WITH made AS (
          INSERT INTO ${schema}.audit_records (${columns})
          SELECT ${columns} FROM ${unnestOf(AUDIT_RECORDS)} WITH ORDINALITY AS r (${columns}, place) ORDER BY place
          RETURNING id)
        INSERT INTO ${schema}.audit_pending (id) SELECT id FROM made`,
      values: arraysOf(AUDIT_RECORDS, rows),
    },
  ];
}

function writeApprovals(schema: string, { approvals }: BatchState): readonly Statement[] {
  const changed = [...approvals.values()].filter((row) => row.isChanged);
  const paramsOf = (isStored: boolean) =>
    changed.filter((row) => row.isStored === isStored).map(({ row }) => approvalParams(row));
  return [
    ...insertRows(schema, APPROVALS, paramsOf(false)),
    ...updateRows(schema, APPROVAL_STATE, ["tenant", "approval_key"], paramsOf(true)),
  ];
}

/** Their lines are there and locked. */
function writeBudgets(schema: string, { budgets }: BatchState): readonly Statement[] {
  const changed = [...budgets.values()].filter((row) => row.isChanged).map(({ row }) => budgetParams(row));
  return updateRows(schema, BUDGETS, ["tenant", "budget_key"], changed);
}

function writeReservations(schema: string, { reservations }: BatchState): readonly Statement[] {
  const changed = [...reservations.values()].filter((row) => row.isChanged);
  const open = changed.flatMap(({ run, reservationId, reservation }) =>
    reservation === undefined ? [] : [reservationParams(run, reservationId, reservation)],
  );
  const closed = changed.filter(({ reservation }) => reservation === undefined);
  const upsert =
    "ON CONFLICT (tenant, run_id, reservation_key) DO UPDATE SET budget = excluded.budget, amount = excluded.amount";
  const remove = {
    sql: `DELETE FROM ${schema}.reservations
      WHERE (tenant, run_id, reservation_key) IN (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]))`,
    values: [
      closed.map(({ run }) => run.tenant),
      closed.map(({ run }) => run.runId),
      closed.map(({ reservationId }) => indexKey(reservationId)),
    ],
  };
  return [...insertRows(schema, RESERVATIONS, open, upsert), ...(closed.length === 0 ? [] : [remove])];
}

/** In one order for everybody, because two transactions may bring the same ones; kept from `dropBlobs` to the end. */
function writeBlobs(schema: string, { blobs }: BatchState): readonly Statement[] {
  const rows = [...blobs].map(([sha256, text]) => ({ sha256, text }));
  rows.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1));
  const keep = {
    sql: `SELECT sha256 FROM ${schema}.blobs WHERE sha256 = ANY($1::text[]) ORDER BY sha256 FOR KEY SHARE`,
    values: [rows.map(({ sha256 }) => sha256)],
  };
  return rows.length === 0 ? [] : [...insertRows(schema, BLOBS, rows, "ON CONFLICT DO NOTHING"), keep];
}

function insertInto(schema: string, table: Table): string {
  return `INSERT INTO ${schema}.${table.name} (${columnsOf(table)}) SELECT * FROM ${unnestOf(table)}`;
}

/** Writes one row, whether or not it is there. */
export function putRow(schema: string, table: Table, keys: readonly string[], row: TableRow): Statement {
  return { sql: `${insertInto(schema, table)} ${replaceOn(table, keys)}`, values: arraysOf(table, [row]) };
}

function replaceOn(table: Table, keys: readonly string[]): string {
  const columns = Object.keys(table.columns).filter((column) => !keys.includes(column));
  return `ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`;
}

/** No statement for no rows. */
function insertRows(schema: string, table: Table, rows: readonly TableRow[], onConflict = ""): readonly Statement[] {
  return rows.length === 0
    ? []
    : [{ sql: `${insertInto(schema, table)} ${onConflict}`, values: arraysOf(table, rows) }];
}

/** Sets all columns of `table` but its keys, and `more`. */
function updateRows(
  schema: string,
  table: Table,
  keys: readonly string[],
  rows: readonly TableRow[],
  more?: string,
): readonly Statement[] {
  if (rows.length === 0) {
    return [];
  }
  const columns = Object.keys(table.columns).filter((column) => !keys.includes(column));
  const set = [...columns.map((column) => `${column} = w.${column}`), ...(more === undefined ? [] : [more])].join(", ");
  const where = keys.map((column) => `t.${column} = w.${column}`).join(" AND ");
  const sql = `UPDATE ${schema}.${table.name} t SET ${set}
    FROM ${unnestOf(table)} AS w (${columnsOf(table)}) WHERE ${where}`;
  return [{ sql, values: arraysOf(table, rows) }];
}
