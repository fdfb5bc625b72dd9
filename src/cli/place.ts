import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { openSqliteStore } from "../adapters/sqlite/index.ts";
import { BelayError } from "../errors.ts";
import type { Store } from "../journal/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import { loadPostgres, postgresAddress } from "./postgres-place.ts";

/** Where the state of a project lies. */
export interface Place {
  /** Absolute path of the database of runs. */
  readonly db: string;
  /** Address of the PostgreSQL database of runs, in the place of the file; holds a password and is never shown. */
  readonly postgres?: string;
  /** Folder of the database; the apps' own data, the signing key and the checkpoints lie in it. */
  readonly folder: string;
  readonly tenant: string;
}

const DEFAULT_DB = join(".belay", "belay.db");

export function placeOf(input: CommandInput): Place {
  const db = resolve(input.cwd, textOption(input, "db") ?? DEFAULT_DB);
  const postgres = postgresAddress(input);
  const tenant = textOption(input, "tenant") ?? "default";
  return { db, folder: dirname(db), tenant, ...(postgres === undefined ? {} : { postgres }) };
}

/** Opens the database, and makes it when it is not there yet. */
export async function createStore(place: Place): Promise<Store> {
  // What customers write lies in it, so no other user of the machine may look.
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  return place.postgres === undefined ? openSqliteStore(place.db) : openPostgres(place.postgres, true);
}

/** A command that only looks leaves the numbering of audit records to those that stay. */
async function openPostgres(connectionString: string, create: boolean): Promise<Store> {
  const { createPostgresStore } = await loadPostgres();
  return createPostgresStore({ connectionString, create, sequencer: create });
}

/** Opens a database that must be there; throws `BELAY_STORE_MISSING`, so that a mistyped path makes no new file. */
export async function openStore(place: Place): Promise<Store> {
  if (place.postgres !== undefined) {
    return openPostgres(place.postgres, false);
  }
  if (!existsSync(place.db)) {
    throw new BelayError(
      "BELAY_STORE_MISSING",
      `There is no database ${place.db}. Start a run first (belay run), or correct --db.`,
    );
  }
  return openSqliteStore(place.db);
}

/** Works with a store that is being opened and closes it, whatever happens. */
export async function withStore<Value>(
  opening: Promise<Store>,
  work: (store: Store) => Promise<Value>,
): Promise<Value> {
  const store = await opening;
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
