import type { RunKey, Store } from "../../journal/index.ts";
import { databaseOf } from "./database-of.ts";
import { FORMAT } from "./schema.ts";

export interface PostgresFacts {
  /** Server, database and schema, without a password. */
  readonly label: string;
  /** Version of the server. */
  readonly version: string;
  /** Number of the tables' format; this version of Belay opens no other. */
  readonly format: number;
  /** Whether the server notices pages that its disk has changed. */
  readonly isChecksummed: boolean;
  /** Audit records that have no place in the tree yet. */
  readonly pendingRecords: number;
  /** The event with the largest time; absent in an empty store. */
  readonly newest?: { readonly run: RunKey; readonly seq: number; readonly at: number };
}

/**
 * Looks at a PostgreSQL store and its server; reads the whole journal once.
 *
 * Throws `BELAY_STORE_MISMATCH` for a store of another kind.
 */
export async function inspectPostgresStore(store: Store): Promise<PostgresFacts> {
  const database = databaseOf(store);
  const { label, schema } = database.settings;
  return database.snapshot(async (session) => {
    const [server] = await session.all(`SELECT current_setting('server_version') AS version,
      current_setting('data_checksums') AS checksums,
      (SELECT count(*) FROM ${schema}.audit_pending) AS pending`);
    const sql = `SELECT tenant, run_id, seq, at FROM ${schema}.journal ORDER BY at DESC LIMIT 1`;
    const [newest] = await session.allLoose(sql);
    return {
      label,
      version: String(server?.["version"]),
      format: FORMAT,
      isChecksummed: server?.["checksums"] === "on",
      pendingRecords: Number(server?.["pending"]),
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
