import { BelayError } from "../../errors.ts";
import {
  checkClock,
  type JournalLine,
  type PreparedCommit,
  projectCommit,
  unplacedRecords,
} from "../../journal/index.ts";
import type { BatchRun, BatchState } from "./batch-state.ts";
import { type JobOutcome, type PendingCommit, runName } from "./commit-job.ts";

/** What projecting needs to know besides the tables. */
export interface ProjectOptions {
  readonly label: string;
  readonly clockToleranceMs: number;
  /** Jobs of which an earlier try turned out to have been kept. */
  readonly stored: ReadonlySet<PendingCommit>;
  /** Newest time in the journal of runs whose clock is in doubt, by the name of the run. */
  readonly newestAt: ReadonlyMap<string, number>;
}

/** Takes one commit into the state of its transaction, or says why not; an invalid one changes nothing. */
export function projectJob(state: BatchState, job: PendingCommit, options: ProjectOptions): JobOutcome {
  try {
    return project(state, job, options);
  } catch (error) {
    if (error instanceof BelayError) {
      return { status: "invalid", error };
    }
    throw error;
  }
}

function project(state: BatchState, job: PendingCommit, options: ProjectOptions): JobOutcome {
  const { commit } = job;
  const run = state.runs.get(runName(commit.run));
  if (run === undefined) {
    throw new Error("a run of the batch was not read");
  }
  if (options.stored.has(job)) {
    return { status: "told", result: { status: "committed", head: commit.head + commit.entries.length } };
  }
  if (run.head !== commit.head) {
    return { status: "told", result: { status: "conflict", head: run.head } };
  }
  if (run.head > 0 && run.projection === undefined) {
    throw lostRun(options.label, commit);
  }
  const noted = run.projection?.row.updatedAt ?? 0;
  checkClock(commit, noted, options.clockToleranceMs, () => options.newestAt.get(runName(commit.run)) ?? noted);
  const projected = projectCommit(state, commit.run, commit.head, commit.entries);
  if (projected.status === "refused") {
    return { status: "told", result: projected };
  }
  const records = unplacedRecords(commit, projected);
  state.apply(run, linesOf(commit), eventsOf(commit), projected.changes);
  state.records.push(...records.map((record) => ({ ...record, run: commit.run })));
  for (const [sha256, text] of commit.blobs) {
    state.blobs.set(sha256, text);
  }
  return { status: "told", result: { status: "committed", head: run.head } };
}

export function linesOf({ run, head, entries }: PreparedCommit): readonly JournalLine[] {
  return entries.map(({ at, schema, text }, index) => ({ run, seq: head + index + 1, at, schema, text }));
}

function eventsOf({ entries }: PreparedCommit): readonly PreparedCommit["entries"][number]["event"][] {
  return entries.map(({ event }) => event);
}

function lostRun(label: string, { run }: PreparedCommit): BelayError {
  return new BelayError(
    "BELAY_STORE_CORRUPT",
    `The run index in ${label} has lost run ${run.runId}; the journal still has it. ` +
      "Rebuild the index with belay doctor --rebuild, or with rebuildPostgresProjections().",
  );
}

/** Whether checking the clock will need the newest time of the run's journal. */
export function isClockInDoubt(run: BatchRun, { entries }: PreparedCommit, clockToleranceMs: number): boolean {
  const noted = run.projection?.row.updatedAt ?? 0;
  return entries.some(({ at }) => at < noted - clockToleranceMs);
}
