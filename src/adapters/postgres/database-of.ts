import { BelayError } from "../../errors.ts";
import type { Store } from "../../journal/index.ts";
import type { Database } from "./database.ts";

const databases = new WeakMap<Store, Database>();

/** Remembers which connections a store uses, for what else works on the same schema. */
export function registerDatabase(store: Store, database: Database): void {
  databases.set(store, database);
}

/** The connections of a PostgreSQL store. Throws `BELAY_STORE_MISMATCH` for a store of another kind. */
export function databaseOf(store: Store): Database {
  const database = databases.get(store);
  if (database === undefined) {
    throw new BelayError(
      "BELAY_STORE_MISMATCH",
      `This needs a store made by createPostgresStore(), not a store of kind ${store.kind}. Pass that store itself.`,
    );
  }
  return database;
}
