import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BelayError } from "belay-harness";
import { LEDGER_SCHEMA } from "./restock-ledger.ts";

/** Marks the file as a stockroom, so that no other SQLite file is ever taken for one ("Stoc" in ASCII). */
const APPLICATION_ID = 0x53746f63;
const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens the stockroom's ledger, creating it when missing; `:memory:` gives a fresh one.
 *
 * Throws `BELAY_WORLD_INVALID` for a file that is damaged, is no stockroom or was written by a newer version; the file
 * is left as it is.
 */
export function openDatabase(path: string, { create = true }: { readonly create?: boolean } = {}): DatabaseSync {
  let database: DatabaseSync | undefined;
  if (!create && !existsSync(path)) {
    throw refusal(path, GONE);
  }
  try {
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    prepare(database, path, create);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof BelayError) {
      throw error;
    }
    throw refusal(path, error instanceof Error ? error.message : "it cannot be opened", { cause: error });
  }
}

const GONE = "it must hold what earlier runs did, and it is missing or empty";

function prepare(database: DatabaseSync, path: string, create: boolean): void {
  // Asked before anything is written: a file of another program must stay as it is.
  const application = pragma(database, "application_id");
  const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  if (application !== APPLICATION_ID && (tables > 0 || application !== 0)) {
    throw refusal(path, "it is a database of another program");
  }
  const version = pragma(database, "user_version");
  if (version > SCHEMA_VERSION) {
    throw refusal(path, `its schema ${version} is newer than this program's ${SCHEMA_VERSION}`);
  }
  if (!create && application !== APPLICATION_ID) {
    throw refusal(path, GONE);
  }
  if (path !== ":memory:") {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  }
  // Under the write lock, because two processes may find the file missing at the same time.
  database.exec("BEGIN IMMEDIATE");
  try {
    if (pragma(database, "application_id") !== APPLICATION_ID) {
      database.exec(LEDGER_SCHEMA);
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
    }
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function refusal(path: string, problem: string, options: ErrorOptions = {}): BelayError {
  return new BelayError(
    "BELAY_WORLD_INVALID",
    `the stockroom's database ${path} cannot be used: ${problem}. Restore it from a copy, or name another file; ` +
      "a missing file is created, its folder is not.",
    options,
  );
}
