import {
  CLOCK_TOLERANCE_MS,
  findStuckRuns,
  STUCK,
  type Store,
  type StoreAuditVerdict,
  type StoreDifference,
  type StuckRun,
  verifyStoreAudit,
} from "../journal/index.ts";
import { inspectBackend, type StoreBackend } from "./doctor-backend.ts";
import { attempt, type Check, fail, ok, warn } from "./doctor-check.ts";
import { timeText } from "./run-result.ts";

const SHOWN_MAX = 5;

export interface StoreCheckOptions {
  readonly isRebuild: boolean;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Everything that can be said of an open store, the database itself first. */
export async function checkStore(store: Store, options: StoreCheckOptions): Promise<readonly Check[]> {
  const backend = await inspectBackend(store);
  if (backend.database.status === "fail") {
    return [backend.database];
  }
  let verdict: StoreAuditVerdict | undefined;
  const journal = await attempt("audit log", async () => {
    verdict = await verifyStoreAudit(store, { signal: options.signal });
    return checkVerdict(verdict);
  });
  // From a journal that was changed, nothing may be derived as if it were the truth.
  const isTrusted = verdict !== undefined && (verdict.ok || verdict.problem === "projection_differs");
  const derived = await attempt("derived tables", () => checkDerived(backend, options.isRebuild, isTrusted));
  const stuck = await attempt("stuck runs", () => checkStuck(store, options));
  return [backend.database, journal, derived, stuck, checkClock(backend, options.now)];
}

function checkVerdict(verdict: StoreAuditVerdict): Check {
  if (verdict.ok) {
    return ok("audit log", `${verdict.size} records and the journal that they vouch for are intact`);
  }
  return verdict.problem === "projection_differs"
    ? ok("audit log", "every record and the journal that they vouch for are intact")
    : fail("audit log", `${verdict.problem}: ${verdict.detail}. Keep a copy of the file and restore a backup.`);
}

async function checkDerived(backend: StoreBackend, isRebuild: boolean, isTrusted: boolean): Promise<Check> {
  const name = "derived tables";
  if (isRebuild && isTrusted) {
    const mended = await backend.rebuild({ dryRun: false });
    return ok(name, mended.length === 0 ? "are what the journal says" : `derived again: ${listed(mended)}`);
  }
  const differences = await backend.rebuild({ dryRun: true });
  if (differences.length === 0) {
    return ok(name, "are what the journal says");
  }
  const remedy = isTrusted
    ? "See how they came to differ, then run belay doctor --rebuild."
    : "They are not rebuilt, because the journal is not intact.";
  return fail(name, `not what the journal says: ${listed(differences)}. ${remedy}`);
}

function listed(differences: readonly StoreDifference[]): string {
  const shown = differences.slice(0, SHOWN_MAX).map(({ table, row }) => `${table} ${row}`);
  const more = differences.length > SHOWN_MAX ? ` and ${differences.length - SHOWN_MAX} more` : "";
  return `${shown.join(", ")}${more}`;
}

const STUCK_SAYINGS: Readonly<Record<StuckRun["problem"], string>> = {
  approved_not_taken: "answered by a person and not acted on",
  not_taken: "not begun",
  stuck: "standing still",
};

/** Whether there are runs that some worker should have gone on with. */
async function checkStuck(store: Store, { now, signal }: StoreCheckOptions): Promise<Check> {
  const found = await findStuckRuns(store, { ...STUCK, now, signal });
  if (found.length === 0) {
    return ok("stuck runs", "no run stands still that a worker should go on with");
  }
  const shown = found
    .slice(0, SHOWN_MAX)
    .map(({ runId, problem, forMs }) => `${runId} (${STUCK_SAYINGS[problem]} for ${Math.round(forMs / 60_000)} min)`);
  const more = found.length > SHOWN_MAX ? ` and ${found.length - SHOWN_MAX} more` : "";
  return fail("stuck runs", `${shown.join(", ")}${more}. Start a worker (belay serve), or run belay recover.`);
}

function checkClock({ newest }: StoreBackend, now: number): Check {
  if (newest === undefined || newest.at <= now) {
    return ok("clock", "is after the newest event");
  }
  const { run, seq, at } = newest;
  const detail = `event ${seq} of run ${run.runId} says ${timeText(at)} and the clock says ${timeText(now)}`;
  return at <= now + CLOCK_TOLERANCE_MS
    ? warn("clock", `${detail}. Check the time synchronisation.`)
    : fail("clock", `${detail}: nothing can be written until then. Set the clock right, or restore an older backup.`);
}
