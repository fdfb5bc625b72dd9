import type { DatabaseSync } from "node:sqlite";

export type Transaction = <Value>(work: () => Value) => Value;

/**
 * Makes the function that runs synchronous work in one transaction of a database.
 *
 * The outermost call takes the write lock at once (`BEGIN IMMEDIATE`), so what the work reads cannot change before it
 * writes. Work that returns a promise is taken back and throws a `TypeError`: its later part would run outside.
 */
export function createTransaction(database: DatabaseSync): Transaction {
  let depth = 0;
  return (work) => {
    const { begin, commit, rollback } = statementsAt(depth);
    database.exec(begin);
    depth += 1;
    try {
      const value = work();
      if (value instanceof Promise) {
        throw new TypeError("the work of a shop transaction returned a promise; make it synchronous");
      }
      database.exec(commit);
      return value;
    } catch (error) {
      // SQLite may have taken the transaction back by itself, for instance when the disk is full.
      if (database.isTransaction) {
        database.exec(rollback);
      }
      throw error;
    } finally {
      depth -= 1;
    }
  };
}

function statementsAt(depth: number): { readonly begin: string; readonly commit: string; readonly rollback: string } {
  const name = `nested_${depth}`;
  return depth === 0
    ? { begin: "BEGIN IMMEDIATE", commit: "COMMIT", rollback: "ROLLBACK" }
    : { begin: `SAVEPOINT ${name}`, commit: `RELEASE ${name}`, rollback: `ROLLBACK TO ${name}; RELEASE ${name}` };
}
