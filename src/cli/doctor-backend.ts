import { inspectSqliteStore, rebuildProjections, type SqliteFacts } from "../adapters/sqlite/index.ts";
import type { RunKey, Store, StoreDifference } from "../journal/index.ts";
import { type Check, fail, ok, warn } from "./doctor-check.ts";
import { loadPostgres, type PostgresModule } from "./postgres-place.ts";

const SHOWN_MAX = 5;

/** Records that wait for their place for longer than a moment: nobody numbers them. */
const PENDING_MAX = 10_000;

/** What can be said and done only by who knows where a store keeps its data. */
export interface StoreBackend {
  readonly database: Check;
  /** The event with the largest time; absent in an empty store. */
  readonly newest?: { readonly run: RunKey; readonly seq: number; readonly at: number };
  rebuild(options: { readonly dryRun: boolean }): Promise<readonly StoreDifference[]>;
}

export async function inspectBackend(store: Store): Promise<StoreBackend> {
  if (store.kind !== "postgres") {
    const facts = await inspectSqliteStore(store);
    const rebuild: StoreBackend["rebuild"] = (options) => rebuildProjections(store, options);
    return { database: checkFile(facts), ...newestOf(facts), rebuild };
  }
  const { inspectPostgresStore, rebuildPostgresProjections } = await loadPostgres();
  const facts = await inspectPostgresStore(store);
  return {
    database: checkServer(facts),
    ...newestOf(facts),
    rebuild: (options) => rebuildPostgresProjections(store, options),
  };
}

function newestOf({ newest }: Pick<StoreBackend, "newest">): Pick<StoreBackend, "newest"> {
  return newest === undefined ? {} : { newest };
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

function checkServer(facts: Awaited<ReturnType<PostgresModule["inspectPostgresStore"]>>): Check {
  const { label, version, format, isChecksummed, pendingRecords } = facts;
  const detail = `${label} is PostgreSQL ${version}, format ${format}, ${pendingRecords} audit records without a place yet`;
  if (pendingRecords > PENDING_MAX) {
    return warn("database", `${detail}. Keep a worker or server running, which numbers them.`);
  }
  return isChecksummed
    ? ok("database", detail)
    : warn("database", `${detail}. The server has no data checksums, so a failing disk is noticed late.`);
}
