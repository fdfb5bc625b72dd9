import {
  decodeEvent,
  type RunKey,
  type StoredRow,
  toJournalLine,
  toRunKey,
  toRunProjection,
} from "../../journal/index.ts";
import type { BatchRun, BatchState } from "./batch-state.ts";
import { type PendingCommit, runName } from "./commit-job.ts";
import type { Session, Statement } from "./session.ts";
import { columnsOf, JOURNAL, RUNS } from "./tables.ts";

const HISTORY_PAGE = 100;

export function runsOf(jobs: readonly PendingCommit[]): readonly RunKey[] {
  return [...new Map(jobs.map(({ commit }) => [runName(commit.run), commit.run])).values()];
}

/** Locks the runs' lines, in one order for everybody, so that two transactions never wait for each other. */
export function lockRuns(schema: string, runs: readonly RunKey[]): Statement {
  return {
    sql: `SELECT ${columnsOf(RUNS)} FROM ${schema}.runs
      WHERE (tenant, run_id) IN (SELECT * FROM unnest($1::text[], $2::text[])) ORDER BY tenant, run_id FOR UPDATE`,
    values: [runs.map(({ tenant }) => tenant), runs.map(({ runId }) => runId)],
  };
}

/**
 * Puts the runs of the jobs into the state: their lines and, where it matters, the head that the journal itself says.
 *
 * Of the head the journal decides, not the index that is derived from it. Where both say what every job expects, the
 * journal is not asked here: writing checks it. `isCareful` asks for all.
 */
export async function loadRuns(
  session: Session,
  schema: string,
  state: BatchState,
  jobs: readonly PendingCommit[],
  locked: readonly StoredRow[],
  isCareful: boolean,
): Promise<void> {
  const rows = new Map(locked.map((row) => [runName(toRunKey(row)), row]));
  const runs = runsOf(jobs);
  const indexed = (run: RunKey): number => Number(rows.get(runName(run))?.["head"] ?? 0);
  const doubted = isCareful ? runs : runs.filter((run) => firstHead(jobs, run) !== indexed(run));
  const heads = await readHeads(session, schema, doubted);
  for (const key of runs) {
    const name = runName(key);
    const head = heads.get(name) ?? (doubted.includes(key) ? 0 : indexed(key));
    const row = rows.get(name);
    // A line that nobody needs is not read: it may be one that somebody damaged.
    const isNeeded =
      row !== undefined && jobs.some(({ commit }) => runName(commit.run) === name && commit.head === head);
    const run: BatchRun = {
      key,
      head,
      projection: isNeeded ? toRunProjection(row) : undefined,
      storedHead: head,
      isIndexed: row !== undefined,
      history: [],
      added: [],
    };
    state.runs.set(name, run);
  }
}

function firstHead(jobs: readonly PendingCommit[], run: RunKey): number | undefined {
  return jobs.find(({ commit }) => runName(commit.run) === runName(run))?.commit.head;
}

async function readHeads(session: Session, schema: string, runs: readonly RunKey[]): Promise<Map<string, number>> {
  if (runs.length === 0) {
    return new Map();
  }
  const sql = `SELECT k.tenant, k.run_id, (SELECT max(seq) FROM ${schema}.journal j
      WHERE j.tenant = k.tenant AND j.run_id = k.run_id) AS head
    FROM unnest($1::text[], $2::text[]) AS k (tenant, run_id)`;
  const [tenants, runIds] = [runs.map(({ tenant }) => tenant), runs.map(({ runId }) => runId)];
  const rows = await session.all(sql, tenants, runIds);
  return new Map(rows.map((row) => [runName(toRunKey(row)), Number(row["head"] ?? 0)]));
}

/**
 * Reads the journal backwards as far as the questions of a commit need it: to the reply that asked for each call.
 */
export async function loadHistory(
  session: Session,
  schema: string,
  run: BatchRun,
  callIds: ReadonlySet<string>,
): Promise<void> {
  const sql = `SELECT ${columnsOf(JOURNAL)} FROM ${schema}.journal
    WHERE tenant = $1 AND run_id = $2 AND seq <= $3 ORDER BY seq DESC LIMIT ${HISTORY_PAGE}`;
  const missing = new Set(callIds);
  let seq = run.storedHead;
  while (missing.size > 0 && seq > 0) {
    const page = (await session.all(sql, run.key.tenant, run.key.runId, seq)).map(toJournalLine);
    const events = page.map(decodeEvent);
    run.history = [...run.history, ...events];
    for (const event of events) {
      if (event.type === "model.replied" && event.output.kind === "calls") {
        for (const { callId } of event.output.calls) {
          missing.delete(callId);
        }
      }
    }
    seq = (page.at(-1)?.seq ?? 1) - 1;
  }
}
