import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type BudgetRow,
  deriveRun,
  type Repair,
  type RunKey,
  rowName,
  type Store,
  type StoreDifference,
  sumBudgets,
  toJournalLine,
  toRunKey,
} from "../../journal/index.ts";
import { compareRun, type Mend } from "./compare-run.ts";
import { compareAuditState, compareBudgets, findStrangers } from "./compare-totals.ts";
import { handleOf, type SqliteHandle, type WriteSession } from "./sqlite-handle.ts";

// So many runs are compared before others get their turn.
const RUNS_PER_TURN = 20;

/** What is known of a run after it was compared. */
interface Compared {
  readonly head: number;
  readonly newestAt: number;
  readonly budgets: readonly BudgetRow[];
  readonly repairs: readonly Repair<Mend>[];
}

/**
 * Derives runs, approvals, budgets and the notes beside the audit tree from the journal again, and mends what differs.
 *
 * Mending is one transaction; with `dryRun` nothing is written and others may go on writing. Returns the differences
 * found. Throws `BELAY_STORE_MISMATCH` for a store of another kind, `BELAY_JOURNAL_TOO_NEW` and `BELAY_STORE_CORRUPT`
 * when the journal cannot be read.
 */
export async function rebuildProjections(
  store: Store,
  options: { readonly dryRun?: boolean } = {},
): Promise<readonly StoreDifference[]> {
  const handle = handleOf(store);
  return options.dryRun === true ? findDifferences(handle) : handle.write((session) => mendAll(handle, session));
}

/** Finds what `rebuildProjections` would mend, run by run, beside other readers and writers. */
export async function findDifferences(handle: SqliteHandle): Promise<readonly StoreDifference[]> {
  const runs = new Map<string, Compared>();
  let count = 0;
  for (let key = nextRun(handle, undefined); key !== undefined; key = nextRun(handle, key)) {
    const run = key;
    runs.set(
      rowName(run.tenant, run.runId),
      handle.snapshot(() => compareOne(handle, run)),
    );
    count += 1;
    if (count % RUNS_PER_TURN === 0) {
      await nextTurn();
    }
  }
  const mendNothing = (): void => undefined;
  return handle.snapshot(() => {
    // What was written meanwhile is compared again, so that all sums are of one moment.
    for (const row of handle.allLoose("SELECT tenant, run_id, head FROM runs")) {
      const key = toRunKey(row);
      if (runs.get(rowName(key.tenant, key.runId))?.head !== Number(row["head"])) {
        runs.set(rowName(key.tenant, key.runId), compareOne(handle, key));
      }
    }
    return allRepairs(handle, [...runs.values()], mendNothing).map(({ difference }) => difference);
  });
}

function nextRun(handle: SqliteHandle, after: RunKey | undefined): RunKey | undefined {
  const sql = "SELECT tenant, run_id FROM journal WHERE (tenant, run_id) > (?, ?) ORDER BY tenant, run_id LIMIT 1";
  const row = handle.read(() => handle.get(sql, after?.tenant ?? "", after?.runId ?? ""));
  return row && toRunKey(row);
}

function mendAll(handle: SqliteHandle, session: WriteSession): readonly StoreDifference[] {
  const runs = startedRuns(handle).map((key) => {
    const compared = compareOne(handle, key);
    for (const repair of compared.repairs) {
      repair.mend();
    }
    return { ...compared, repairs: compared.repairs };
  });
  const differences = runs.flatMap(({ repairs }) => repairs.map(({ difference }) => difference));
  const bare = runs.map((compared) => ({ ...compared, repairs: [] }));
  const others = allRepairs(handle, bare, (newestAt) => session.setTree({ frontier: session.tree.frontier, newestAt }));
  for (const repair of others) {
    repair.mend();
  }
  return [...differences, ...others.map(({ difference }) => difference)];
}

/** In the order in which they were started, so that rows put back keep their place among their equals. */
function startedRuns(handle: SqliteHandle): readonly RunKey[] {
  // Of a retired run the first line is gone, and its record is not.
  const sql = `SELECT stored.tenant, stored.run_id FROM (SELECT DISTINCT tenant, run_id FROM journal) AS stored
    LEFT JOIN audit ON audit.run_seq = 1 AND audit.tenant = stored.tenant AND audit.run_id = stored.run_id
    ORDER BY audit.seq`;
  return handle.all(sql).map(toRunKey);
}

function compareOne(handle: SqliteHandle, key: RunKey): Compared {
  const sql = "SELECT * FROM journal WHERE tenant = ? AND run_id = ? ORDER BY seq";
  const derived = deriveRun(key, handle.all(sql, key.tenant, key.runId).map(toJournalLine));
  if (derived === undefined) {
    return { head: 0, newestAt: 0, budgets: [], repairs: [] };
  }
  const { run, newestAt, budgets } = derived;
  return { head: run.row.head, newestAt, budgets: [...budgets.values()], repairs: compareRun(handle, derived) };
}

function allRepairs(
  handle: SqliteHandle,
  runs: readonly Compared[],
  mendState: (newestAt: number) => void,
): readonly Repair<Mend>[] {
  const newestAt = runs.reduce((newest, run) => Math.max(newest, run.newestAt), 0);
  return [
    ...runs.flatMap(({ repairs }) => repairs),
    ...compareBudgets(handle, sumBudgets(runs.flatMap(({ budgets }) => budgets))),
    ...findStrangers(handle),
    ...compareAuditState(handle, newestAt, mendState),
  ];
}
