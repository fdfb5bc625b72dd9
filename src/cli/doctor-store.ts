import { inspectSqliteStore, rebuildProjections, type SqliteFacts } from "../adapters/sqlite/index.ts";
import {
  CLOCK_TOLERANCE_MS,
  type Store,
  type StoreAuditVerdict,
  type StoreDifference,
  verifyStoreAudit,
} from "../journal/index.ts";
import { attempt, type Check, fail, ok, warn } from "./doctor-check.ts";
import { timeText } from "./run-result.ts";

const SHOWN_MAX = 5;

export interface StoreCheckOptions {
  readonly isRebuild: boolean;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Everything that can be said of an open store, the file itself first. */
export async function checkStore(store: Store, options: StoreCheckOptions): Promise<readonly Check[]> {
  const facts = await inspectSqliteStore(store);
  const file = checkFile(facts);
  if (file.status === "fail") {
    return [file];
  }
  let verdict: StoreAuditVerdict | undefined;
  const journal = await attempt("audit log", async () => {
    verdict = await verifyStoreAudit(store, { signal: options.signal });
    return checkVerdict(verdict);
  });
  // From a journal that was changed, nothing may be derived as if it were the truth.
  const isTrusted = verdict !== undefined && (verdict.ok || verdict.problem === "projection_differs");
  const derived = await attempt("derived tables", () => checkDerived(store, options.isRebuild, isTrusted));
  return [file, journal, derived, checkClock(facts, options.now)];
}

function checkFile({ complaints, format, journalMode }: SqliteFacts): Check {
  if (complaints.length > 0) {
    const more = complaints.length > SHOWN_MAX ? ` and ${complaints.length - SHOWN_MAX} more` : "";
    return fail(
      "database",
      `SQLite finds damage: ${complaints.slice(0, SHOWN_MAX).join("; ")}${more}. Restore a backup.`,
    );
  }
  return ok("database", `SQLite finds no damage; format ${format}, journal mode ${journalMode}`);
}

function checkVerdict(verdict: StoreAuditVerdict): Check {
  if (verdict.ok) {
    return ok("audit log", `${verdict.size} records and the journal that they vouch for are intact`);
  }
  return verdict.problem === "projection_differs"
    ? ok("audit log", "every record and the journal that they vouch for are intact")
    : fail("audit log", `${verdict.problem}: ${verdict.detail}. Keep a copy of the file and restore a backup.`);
}

async function checkDerived(store: Store, isRebuild: boolean, isTrusted: boolean): Promise<Check> {
  const name = "derived tables";
  if (isRebuild && isTrusted) {
    const mended = await rebuildProjections(store);
    return ok(name, mended.length === 0 ? "are what the journal says" : `derived again: ${listed(mended)}`);
  }
  const differences = await rebuildProjections(store, { dryRun: true });
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

function checkClock({ newest }: SqliteFacts, now: number): Check {
  if (newest === undefined || newest.at <= now) {
    return ok("clock", "is after the newest event");
  }
  const { run, seq, at } = newest;
  const detail = `event ${seq} of run ${run.runId} says ${timeText(at)} and the clock says ${timeText(now)}`;
  return at <= now + CLOCK_TOLERANCE_MS
    ? warn("clock", `${detail}. Check the time synchronisation.`)
    : fail("clock", `${detail}: nothing can be written until then. Set the clock right, or restore an older backup.`);
}
