import type { World } from "belay-harness/config";
import { openDatabase } from "./open-database.ts";
import { createOrderTable, type OrderTable } from "./order-table.ts";
import { type ShopSnapshot, snapshotOf } from "./snapshot.ts";
import { createTransaction, type Transaction } from "./transaction.ts";
import { createWriteLedger, type WriteLedger } from "./write-ledger.ts";

/** The shop's own data: what rules read and tools change. Every method is synchronous. */
export interface ShopWorld extends World, OrderTable, WriteLedger {
  /** Runs synchronous work in one transaction; nested calls are savepoints. A throw takes everything of it back. */
  readonly transaction: Transaction;
  /** Makes the next `times` calls of a tool fail as if its service were down. Kept in memory, for tests. */
  failNext(tool: string, times: number): void;
  /** Uses up one planned failure of the tool; false when there is none. */
  takeFailure(tool: string): boolean;
  snapshot(): ShopSnapshot;
}

export interface OpenShopOptions {
  /** Milliseconds since the epoch from which the ages of seeded orders count. Default the present time. */
  readonly now?: number;
  /** Milliseconds to wait for another process that writes. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** False when the shop must be there already, because runs have worked on it. Default true. */
  readonly create?: boolean;
}

/**
 * Opens the shop at a file path, creating and seeding it when missing unless `create` is false; `:memory:` gives a
 * fresh seeded one.
 *
 * Throws `BELAY_WORLD_INVALID` for a file that is damaged, is no shop, was written by a newer version, or must be there
 * and is not.
 */
export function openShopWorld(path: string, { now = Date.now(), ...options }: OpenShopOptions = {}): ShopWorld {
  const database = openDatabase(path, { ...options, now });
  const failures = new Map<string, number>();
  return {
    ...createOrderTable(database),
    ...createWriteLedger(database),
    transaction: createTransaction(database),
    failNext: (tool, times) => {
      failures.set(tool, times);
    },
    takeFailure: (tool) => {
      const left = failures.get(tool) ?? 0;
      failures.set(tool, Math.max(0, left - 1));
      return left > 0;
    },
    snapshot: () => snapshotOf(database),
    close: () => database.close(),
  };
}
