import type { DatabaseSync } from "node:sqlite";
import { BelayError } from "../../errors.ts";

/**
 * Runs synchronous work inside a savepoint: what it throws is thrown on, and everything it wrote is taken back.
 *
 * Savepoints nest, and one outside of a transaction is a transaction. Throws `BELAY_TRANSACTION_ASYNC`, with nothing
 * kept, for work that gives a promise: no other user of the connection may come between.
 */
export function withSavepoint<Value>(database: DatabaseSync, name: string, work: () => Value): Value {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  database.exec(`SAVEPOINT ${quoted}`);
  let value: Value;
  try {
    value = work();
    refusePromise(name, value);
    database.exec(`RELEASE ${quoted}`);
  } catch (error) {
    // Some errors (a full disk) have ended the whole transaction already, and the savepoint with it.
    if (database.isTransaction) {
      database.exec(`ROLLBACK TO ${quoted}`);
      database.exec(`RELEASE ${quoted}`);
    }
    throw error;
  }
  return value;
}

function refusePromise(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  if (value instanceof Promise) value.catch(() => undefined);
  throw new BelayError(
    "BELAY_TRANSACTION_ASYNC",
    `The work of the savepoint "${name}" gave a promise. Do what must be awaited before or after it.`,
  );
}
