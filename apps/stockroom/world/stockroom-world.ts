import type { World } from "belay-harness/config";
import { openDatabase } from "./open-database.ts";
import { createRestockLedger, type LedgerScope, type RestockLedger, type RestockRequest } from "./restock-ledger.ts";

/** The stockroom's own data. Products, orders and policies never change; the ledger of restock requests does. */
export interface StockroomWorld extends World, RestockLedger {
  /** Counts the look-ups of a legacy order in a run, this one included; the first of them fails. Kept in memory. */
  countLookup(scope: LedgerScope, orderId: string): number;
  snapshot(): { readonly requests: readonly RestockRequest[] };
  reset(scope: LedgerScope): void;
}

/** Legacy orders that are remembered; a server that runs for months must not remember every run. */
const LOOKUPS_MAX = 10_000;

/**
 * Opens the stockroom at a file path, creating it when missing unless `create` is false; `:memory:` gives a fresh one.
 * Throws `BELAY_WORLD_INVALID`.
 */
export function openStockroomWorld(path: string, options: { readonly create?: boolean } = {}): StockroomWorld {
  const database = openDatabase(path, options);
  const ledger = createRestockLedger(database);
  const lookups = new Map<string, number>();
  const scopeKey = ({ tenant, runId }: LedgerScope): string => `${tenant}:${runId}:`;
  return {
    ...ledger,
    countLookup: (scope, orderId) => {
      const key = scopeKey(scope) + orderId;
      const count = (lookups.get(key) ?? 0) + 1;
      lookups.set(key, count);
      const [oldest] = lookups.keys();
      if (lookups.size > LOOKUPS_MAX && oldest !== undefined) {
        lookups.delete(oldest);
      }
      return count;
    },
    reset: (scope) => {
      ledger.reset(scope);
      for (const key of lookups.keys()) {
        if (key.startsWith(scopeKey(scope))) {
          lookups.delete(key);
        }
      }
    },
    // Runs of a case have ids of their own; its end state does not need them.
    snapshot: () => ({ requests: ledger.all().map(({ tenant: _t, runId: _r, ...request }) => request) }),
    close: () => database.close(),
  };
}
