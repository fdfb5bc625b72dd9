import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BelayError } from "../../errors.ts";
import { checkSqliteVersion, checkStorePath } from "./check-path.ts";
import { APPLICATION_ID, FROM_FORMAT_2, SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { isBusy, translateSqliteError } from "./sqlite-error.ts";
import { waitForLock } from "./wait-for-lock.ts";

/** Milliseconds to wait for another program's lock. */
export const LOCK_TIMEOUT_MS = 5000;

/** Opens or creates a store's database file and makes sure that it is one of ours. Throws the codes of `openSqliteStore`. */
export async function openDatabase(path: string, lockTimeoutMs: number): Promise<DatabaseSync> {
  checkSqliteVersion(process.versions["sqlite"] ?? "0");
  checkStorePath(path);
  let database: DatabaseSync | undefined;
  try {
    createPrivately(path);
    database = new DatabaseSync(path, {
      timeout: lockTimeoutMs,
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: false,
      defensive: true,
    });
    const opened = database;
    await waitForLock(() => prepareFile(opened, path), isBusy, lockTimeoutMs);
    return opened;
  } catch (error) {
    database?.close();
    throw translateSqliteError(path, error);
  }
}

/** A new file is readable by its owner alone; SQLite gives its write-ahead log the same mode. */
function createPrivately(path: string): void {
  if (path === ":memory:") {
    return;
  }
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, cause: unknown): BelayError {
  const isThere = existsSync(path);
  return new BelayError(
    isThere ? "BELAY_STORE_READ_ONLY" : "BELAY_STORE_PATH",
    isThere
      ? `The store ${path} cannot be written by this user. Give this user the right to write the file and its folder.`
      : `The store ${path} cannot be created. Give this user the right to write its folder, or choose another path.`,
    { cause },
  );
}

function prepareFile(database: DatabaseSync, path: string): void {
  // Looked at before anything is written, so that nobody else's file is ever touched.
  if (!isOurs(database, path) || formatOf(database) < SCHEMA_VERSION) {
    bringUp(database, path);
  }
  const mode = pragma(database, "journal_mode = WAL");
  if (mode !== "wal" && mode !== "memory") {
    throw new BelayError(
      "BELAY_STORE_PATH",
      `The store ${path} cannot use a write-ahead log (it stays in mode ${String(mode)}). Use a folder on a local disk.`,
    );
  }
  database.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;");
}

/** Of the formats that can be brought up, the oldest. */
const OLDEST_FORMAT = 2;

function formatOf(database: DatabaseSync): number {
  return Number(pragma(database, "user_version"));
}

/** True for our tables, false for an empty file. */
function isOurs(database: DatabaseSync, path: string): boolean {
  const applicationId = pragma(database, "application_id");
  const version = pragma(database, "user_version");
  const tables = database.prepare("SELECT count(*) AS tables FROM sqlite_schema").get()?.["tables"];
  if (applicationId === 0 && version === 0 && tables === 0) {
    return false;
  }
  if (applicationId !== APPLICATION_ID || typeof version !== "number") {
    throw new BelayError(
      "BELAY_STORE_FOREIGN",
      `The file ${path} is a database of another program. Choose another path; nothing was changed.`,
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new BelayError(
      "BELAY_STORE_TOO_NEW",
      `The store ${path} has format ${version}, and this version of Belay knows up to ${SCHEMA_VERSION}. ` +
        "Update belay-harness on this machine; nothing was changed.",
    );
  }
  if (version < OLDEST_FORMAT) {
    throw new BelayError(
      "BELAY_STORE_TOO_OLD",
      `The store ${path} has format ${version}, whose audit log vouches for less than format ${OLDEST_FORMAT} promises. ` +
        "Start a new database (another path), and keep this file with the version that made it; nothing was changed.",
    );
  }
  return true;
}

/** Makes the tables of a new file, and what an older format lacks. */
function bringUp(database: DatabaseSync, path: string): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been faster.
    if (!isOurs(database, path)) {
      database.exec(SCHEMA);
    } else if (formatOf(database) < SCHEMA_VERSION) {
      database.exec(FROM_FORMAT_2);
    }
    database.exec("COMMIT");
  } finally {
    if (database.isTransaction) {
      database.exec("ROLLBACK");
    }
  }
}

function pragma(database: DatabaseSync, text: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
