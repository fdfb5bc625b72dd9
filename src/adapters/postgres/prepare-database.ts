import { BelayError } from "../../errors.ts";
import type { Database } from "./database.ts";
import { failureKind } from "./postgres-error.ts";
import { createTables, FORMAT } from "./schema.ts";
import type { Session } from "./session.ts";

/** `server_version_num` of the oldest server that is tested. */
const VERSION_MIN = 150_000;

const TRIES_MAX = 4;

/**
 * Makes sure that the server is fit for a store and that the tables are there and ours; makes them in a new schema.
 *
 * Several processes may do this at once.
 */
export async function prepareDatabase(database: Database): Promise<void> {
  await database.read((session) => checkServer(database, session));
  const isReady = await database.read(async (session) => (await readFormat(database, session)) === FORMAT);
  if (!isReady && !database.settings.create) {
    throw new BelayError(
      "BELAY_STORE_MISSING",
      `There is no store in ${database.settings.label}. Start a run there first, or correct the address.`,
    );
  }
  if (!isReady) {
    await makeTables(database);
  }
}

async function checkServer(database: Database, session: Session): Promise<void> {
  const { label, acceptUnsafeServer } = database.settings;
  const [row = {}] = await session.all(`SELECT current_setting('server_version_num')::bigint AS version,
    current_setting('server_version') AS shown, current_setting('server_encoding') AS encoding,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    pg_is_in_recovery() AS is_standby`);
  if (Number(row["version"]) < VERSION_MIN) {
    throw new BelayError(
      "BELAY_STORE_POSTGRES_OLD",
      `The server of ${label} is PostgreSQL ${String(row["shown"])}, and the store needs 15 or newer. Update the server.`,
    );
  }
  if (row["encoding"] !== "UTF8") {
    const problem = `its encoding is ${String(row["encoding"])}, which cannot hold every text`;
    throw unsafe(label, problem, "Create the database with ENCODING 'UTF8'");
  }
  if (row["is_standby"] === true) {
    throw new BelayError(
      "BELAY_STORE_READ_ONLY",
      `The server of ${label} is a standby, which cannot be written. Connect to the primary server.`,
    );
  }
  for (const setting of ["fsync", "full_page_writes"]) {
    if (row[setting] !== "on" && !acceptUnsafeServer) {
      const problem = `${setting} is ${String(row[setting])}, so a power cut can lose what was confirmed`;
      throw unsafe(label, problem, `Set ${setting} = on; for tests of your own pass acceptUnsafeServer`);
    }
  }
}

function unsafe(label: string, problem: string, remedy: string): BelayError {
  return new BelayError("BELAY_STORE_POSTGRES_UNSAFE", `The store in ${label} is refused: ${problem}. ${remedy}.`);
}

/** Number of the tables' format, or undefined when there are none. Throws for tables that are not ours to use. */
async function readFormat(database: Database, session: Session): Promise<number | undefined> {
  const { label, schema } = database.settings;
  const sql = `SELECT (SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')) AS tables,
    to_regclass($2) IS NOT NULL AS is_ours`;
  const [found] = await session.all(sql, schema, `${schema}.belay_format`);
  if (found?.["is_ours"] !== true) {
    if (Number(found?.["tables"]) > 0) {
      throw new BelayError(
        "BELAY_STORE_FOREIGN",
        `The schema of ${label} holds tables of another program. Choose another schema; nothing was changed.`,
      );
    }
    return undefined;
  }
  const [row] = await session.all(`SELECT format FROM ${schema}.belay_format WHERE id = 1`);
  const format = Number(row?.["format"]);
  if (format > FORMAT) {
    throw new BelayError(
      "BELAY_STORE_TOO_NEW",
      `The store in ${label} has format ${format}, and this version of Belay knows up to ${FORMAT}. ` +
        "Update belay-harness on this machine; nothing was changed.",
    );
  }
  return format;
}

async function makeTables(database: Database): Promise<void> {
  const { schema } = database.settings;
  const lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) IS NULL AS never";
  for (let tries = 1; ; tries += 1) {
    try {
      await database.attempt(undefined, async (session) => {
        await session.all(lock, `belay tables ${schema}`);
        // Another process may have been faster.
        if ((await readFormat(database, session)) === FORMAT) {
          return { value: undefined, keep: false };
        }
        // Asked first, because the right to create schemas is needed even for one that is there.
        const there = await session.all("SELECT 1 AS there FROM pg_catalog.pg_namespace WHERE nspname = $1", schema);
        await session.script(`${there.length > 0 ? "" : `CREATE SCHEMA ${schema};`}${createTables(schema)}`);
        return { value: undefined, keep: true };
      });
      return;
    } catch (error) {
      if (failureKind(error) === "final" || tries >= TRIES_MAX) {
        throw database.translate(error);
      }
    }
  }
}
