import type { RunKey, Store } from "../../journal/index.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { handleOf } from "./sqlite-handle.ts";

export interface SqliteFacts {
  /** What `PRAGMA integrity_check` complains of; empty when all is well. */
  readonly complaints: readonly string[];
  /** Version of the file's tables; this version of Belay opens no other. */
  readonly format: number;
  readonly journalMode: string;
  /** The event with the largest time; absent in an empty store. */
  readonly newest?: { readonly run: RunKey; readonly seq: number; readonly at: number };
}

/**
 * Looks at the file of a SQLite store as SQLite sees it; reads all of it.
 *
 * Throws `BELAY_STORE_MISMATCH` for a store of another kind.
 */
export async function inspectSqliteStore(store: Store): Promise<SqliteFacts> {
  const handle = handleOf(store);
  return handle.snapshot(() => {
    const complaints = handle
      .all("PRAGMA integrity_check")
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== "ok");
    const mode = handle.get("PRAGMA journal_mode")?.["journal_mode"];
    const newest = handle.get("SELECT tenant, run_id, seq, at FROM journal ORDER BY at DESC LIMIT 1");
    return {
      complaints,
      format: SCHEMA_VERSION,
      journalMode: String(mode),
      ...(newest !== undefined && {
        newest: {
          run: { tenant: String(newest["tenant"]), runId: String(newest["run_id"]) },
          seq: Number(newest["seq"]),
          at: Number(newest["at"]),
        },
      }),
    };
  });
}
