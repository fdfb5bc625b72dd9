import { type StoredRow, toJournalLine } from "../../journal/index.ts";
import { type BatchState, createBatchState } from "./batch-state.ts";
import { type CommitJob, type JobOutcome, type PendingCommit, runName } from "./commit-job.ts";
import type { Database } from "./database.ts";
import { loadDerived } from "./load-derived.ts";
import { loadRuns, lockRuns, runsOf } from "./load-runs.ts";
import { isClockInDoubt, linesOf, projectJob } from "./project-job.ts";
import type { Outcome, Session } from "./session.ts";
import { columnsOf, JOURNAL } from "./tables.ts";
import { writeBatch } from "./write-batch.ts";

/**
 * One transaction over several commits: locks their runs, reads what they need, projects one after another, and writes
 * all that was accepted. An outcome is for its job alone; what is thrown concerns all.
 */
export function commitBatch(
  database: Database,
  jobs: readonly CommitJob[],
  isCareful: boolean,
): Promise<readonly JobOutcome[]> {
  return database.attempt(lockRuns(database.settings.schema, runsOf(jobs)), (session, locked) =>
    commitLocked(database, session, jobs, locked, isCareful),
  );
}

/** The same inside a transaction that has locked the runs: `locked` are their lines. */
export async function commitLocked(
  { settings: { schema, label, clockToleranceMs } }: Pick<Database, "settings">,
  session: Session,
  jobs: readonly PendingCommit[],
  locked: readonly StoredRow[],
  isCareful: boolean,
): Promise<Outcome<readonly JobOutcome[]>> {
  const state = createBatchState();
  await loadRuns(session, schema, state, jobs, locked, isCareful);
  const stored = await findStored(session, schema, state, jobs);
  await loadDerived(session, schema, state, jobs);
  const newestAt = await readClocks(session, schema, state, jobs, clockToleranceMs);
  const value = jobs.map((job) => projectJob(state, job, { label, clockToleranceMs, stored, newestAt }));
  const keep = state.lines.length > 0;
  if (keep) {
    await writeBatch(session, schema, state);
  }
  return { value, keep };
}

/** Jobs that were tried before and whose entries stand where they would be written: the try was kept. */
async function findStored(
  session: Session,
  schema: string,
  state: BatchState,
  jobs: readonly PendingCommit[],
): Promise<ReadonlySet<PendingCommit>> {
  const stored = new Set<PendingCommit>();
  for (const job of jobs) {
    const { run, head, entries } = job.commit;
    const last = head + entries.length;
    if (job.mayBeStored && (state.runs.get(runName(run))?.head ?? 0) >= last) {
      const sql = `SELECT ${columnsOf(JOURNAL)} FROM ${schema}.journal
        WHERE tenant = $1 AND run_id = $2 AND seq > $3 AND seq <= $4 ORDER BY seq`;
      const lines = (await session.allLoose(sql, run.tenant, run.runId, head, last)).map(toJournalLine);
      const isSame = linesOf(job.commit).every(({ at, text }, index) => {
        return lines[index]?.at === at && lines[index].text === text;
      });
      if (isSame) {
        stored.add(job);
      }
    }
  }
  return stored;
}

/** Reads the journal of runs whose commit is too old by the run's line, before anything is refused. */
async function readClocks(
  session: Session,
  schema: string,
  state: BatchState,
  jobs: readonly PendingCommit[],
  toleranceMs: number,
): Promise<ReadonlyMap<string, number>> {
  const newestAt = new Map<string, number>();
  for (const { commit } of jobs) {
    const run = state.runs.get(runName(commit.run));
    if (run !== undefined && isClockInDoubt(run, commit, toleranceMs)) {
      const sql = `SELECT max(at) AS newest FROM ${schema}.journal WHERE tenant = $1 AND run_id = $2`;
      const [row] = await session.all(sql, run.key.tenant, run.key.runId);
      newestAt.set(runName(run.key), Number(row?.["newest"] ?? 0));
    }
  }
  return newestAt;
}
