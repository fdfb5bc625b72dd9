import {
  type BudgetRow,
  deriveRun,
  type JournalLine,
  type Repair,
  type RunKey,
  rowName,
  type Store,
  type StoreDifference,
  type StoredRow,
  sumBudgets,
  toJournalLine,
  toRunKey,
} from "../../journal/index.ts";
import { compareRun } from "./compare-run.ts";
import { compareBudgets, findStrangers } from "./compare-totals.ts";
import type { Database } from "./database.ts";
import { databaseOf } from "./database-of.ts";
import type { Session, Statement } from "./session.ts";
import { APPROVALS, columnsOf, JOURNAL, RESERVATIONS, RUNS } from "./tables.ts";

/** Runs that are compared together. */
const PAGE_RUNS = 20;

/** What is known of a run after it was compared. */
interface Compared {
  readonly key: RunKey;
  readonly head: number;
  readonly budgets: readonly BudgetRow[];
  readonly repairs: readonly Repair<Statement>[];
}

/**
 * Derives runs, approvals and budgets from the journal again, and mends what differs.
 *
 * Mending is one transaction, which keeps others from writing; with `dryRun` nothing is written and others may go on.
 * Returns the differences found. Throws `BELAY_STORE_MISMATCH` for a store of another kind, `BELAY_JOURNAL_TOO_NEW` and
 * `BELAY_STORE_CORRUPT` when there is no journal to derive from, `BELAY_STORE_LOCKED` when the others do not pause.
 */
export async function rebuildPostgresProjections(
  store: Store,
  options: { readonly dryRun?: boolean } = {},
): Promise<readonly StoreDifference[]> {
  const database = databaseOf(store);
  return options.dryRun === true ? findDifferences(database) : mendAll(database);
}

/** Finds what `rebuildPostgresProjections` would mend, page by page, beside other readers and writers. */
export async function findDifferences(database: Database): Promise<readonly StoreDifference[]> {
  const { schema } = database.settings;
  const runs = new Map<string, Compared>();
  for (let after: RunKey | undefined; ; ) {
    const page = await database.snapshot((session) => comparePage(session, schema, after));
    for (const compared of page) {
      runs.set(nameOf(compared.key), compared);
    }
    after = page.at(-1)?.key;
    if (after === undefined) {
      break;
    }
  }
  return database.snapshot(async (session) => {
    // What was written meanwhile is compared again, so that all sums are of one moment.
    const rows = await session.allLoose(`SELECT tenant, run_id, head FROM ${schema}.runs`);
    const moved = rows.filter((row) => runs.get(nameOf(toRunKey(row)))?.head !== Number(row["head"])).map(toRunKey);
    for (let start = 0; start < moved.length; start += PAGE_RUNS) {
      for (const compared of await compareRuns(session, schema, moved.slice(start, start + PAGE_RUNS))) {
        runs.set(nameOf(compared.key), compared);
      }
    }
    return (await allRepairs(session, schema, [...runs.values()])).map(({ difference }) => difference);
  });
}

async function mendAll(database: Database): Promise<readonly StoreDifference[]> {
  const { schema } = database.settings;
  database.open();
  try {
    return await database.attempt(undefined, async (session) => {
      await session.script(`LOCK TABLE ${schema}.journal IN SHARE ROW EXCLUSIVE MODE`);
      const runs: Compared[] = [];
      for (let page = await comparePage(session, schema, undefined); page.length > 0; ) {
        runs.push(...page);
        page = await comparePage(session, schema, page.at(-1)?.key);
      }
      const repairs = await allRepairs(session, schema, runs);
      for (const { mend } of repairs) {
        await session.all(mend.sql, ...(mend.values ?? []));
      }
      return { value: repairs.map(({ difference }) => difference), keep: true };
    });
  } catch (error) {
    throw database.translate(error);
  }
}

async function allRepairs(
  session: Session,
  schema: string,
  runs: readonly Compared[],
): Promise<readonly Repair<Statement>[]> {
  const budgets = sumBudgets(runs.flatMap((run) => run.budgets));
  return [
    ...runs.flatMap(({ repairs }) => repairs),
    ...(await compareBudgets(session, schema, budgets)),
    ...(await findStrangers(session, schema)),
  ];
}

async function comparePage(session: Session, schema: string, after: RunKey | undefined): Promise<readonly Compared[]> {
  const sql = `SELECT DISTINCT tenant, run_id FROM ${schema}.journal
    WHERE (tenant, run_id) > ($1, $2) ORDER BY tenant, run_id LIMIT ${PAGE_RUNS}`;
  const keys = (await session.all(sql, after?.tenant ?? "", after?.runId ?? "")).map(toRunKey);
  return compareRuns(session, schema, keys);
}

async function compareRuns(session: Session, schema: string, keys: readonly RunKey[]): Promise<readonly Compared[]> {
  const [tenants, runIds] = [keys.map(({ tenant }) => tenant), keys.map(({ runId }) => runId)];
  const rowsOf = (table: typeof RUNS, order: string): Promise<readonly StoredRow[]> =>
    session.allLoose(
      `SELECT ${columnsOf(table)} FROM ${schema}.${table.name}
        WHERE (tenant, run_id) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY ${order}`,
      tenants,
      runIds,
    );
  const lines = groupByRun(await rowsOf(JOURNAL, "tenant, run_id, seq"));
  const runs = groupByRun(await rowsOf(RUNS, "tenant, run_id"));
  const approvals = groupByRun(await rowsOf(APPROVALS, "approval_key"));
  const reservations = groupByRun(await rowsOf(RESERVATIONS, "reservation_key"));
  return keys.flatMap((key) => {
    const name = nameOf(key);
    const journal: readonly JournalLine[] = (lines.get(name) ?? []).map(toJournalLine);
    const derived = deriveRun(key, journal);
    if (derived === undefined) {
      return [];
    }
    const stored = {
      run: runs.get(name)?.[0],
      approvals: approvals.get(name) ?? [],
      reservations: reservations.get(name) ?? [],
    };
    const repairs = compareRun(schema, derived, stored);
    return [{ key, head: derived.run.row.head, budgets: [...derived.budgets.values()], repairs }];
  });
}

function groupByRun(rows: readonly StoredRow[]): ReadonlyMap<string, readonly StoredRow[]> {
  return Map.groupBy(rows, (row) => nameOf(toRunKey(row)));
}

function nameOf({ tenant, runId }: RunKey): string {
  return rowName(tenant, runId);
}
