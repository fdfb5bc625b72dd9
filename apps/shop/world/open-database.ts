import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BelayError } from "belay-harness";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { seedShop } from "./seed.ts";

const BUSY_TIMEOUT_MS = 5000;

export interface OpenDatabaseOptions {
  /** Milliseconds since the epoch from which the ages of seeded orders count. */
  readonly now: number;
  /** Milliseconds to wait for another process. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** False when the shop must be there already. Default true. */
  readonly create?: boolean;
}

const GONE = "it must hold what earlier runs did, and it is missing or empty";

/**
 * Opens the shop's database file, creating and seeding it when missing unless `create` is false; `:memory:` gives
 * a fresh one.
 *
 * Throws `BELAY_WORLD_INVALID` for a file that is damaged, is no shop, was written by a newer version, or must be there
 * and is not; the file is left as it is.
 */
export function openDatabase(
  path: string,
  { now, busyTimeoutMs = BUSY_TIMEOUT_MS, create = true }: OpenDatabaseOptions,
): DatabaseSync {
  let database: DatabaseSync | undefined;
  if (!create && !existsSync(path)) {
    throw refusal(path, GONE);
  }
  try {
    database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    prepare(database, path, create ? now : undefined);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof BelayError ? error : refusal(path, problemOf(error), error);
  }
}

/** Without `now` nothing is created. */
function prepare(database: DatabaseSync, path: string, now: number | undefined): void {
  // Asked before anything is written: a file of another program must stay as it is.
  const found = { application: pragma(database, "application_id"), version: pragma(database, "user_version") };
  const tables = Number(database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"]);
  if (found.application !== APPLICATION_ID && (tables > 0 || found.application !== 0)) {
    throw refusal(path, "it is a database of another program");
  }
  if (found.version > SCHEMA_VERSION) {
    throw refusal(path, `its schema ${found.version} is newer than this program's ${SCHEMA_VERSION}`);
  }
  if (now === undefined && found.application !== APPLICATION_ID) {
    throw refusal(path, GONE);
  }
  const check = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
  if (check !== "ok") {
    throw refusal(path, `SQLite reports: ${String(check)}`);
  }
  if (path !== ":memory:") {
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  }
  database.exec("PRAGMA foreign_keys = ON");
  if (now !== undefined) {
    createWhenEmpty(database, now);
  }
}

function createWhenEmpty(database: DatabaseSync, now: number): void {
  // Under the write lock, because two processes may find the file missing at the same time.
  database.exec("BEGIN IMMEDIATE");
  try {
    if (pragma(database, "application_id") !== APPLICATION_ID) {
      database.exec(SCHEMA);
      seedShop(database, now);
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

function refusal(path: string, problem: string, cause?: unknown): BelayError {
  const remedy = isBusy(cause)
    ? "Another process holds it: try again when that has finished."
    : problem === GONE
      ? "Restore it from a copy, or start anew with another database of runs."
      : "Restore it from a copy, or name another file; a missing file is created, its folder is not.";
  return new BelayError(
    "BELAY_WORLD_INVALID",
    `the shop's database ${path} cannot be used: ${problem}. ${remedy}`,
    cause === undefined ? {} : { cause },
  );
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === SQLITE_BUSY;
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be opened";
}
