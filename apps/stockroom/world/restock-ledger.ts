import type { DatabaseSync } from "node:sqlite";

export type RestockPriority = "standard" | "urgent";
type RestockStatus = "open" | "pending_approval";

/** A request to the supplier as it was recorded. */
export interface RestockRequest {
  readonly requestId: string;
  readonly sku: string;
  readonly quantity: number;
  readonly priority: RestockPriority;
  readonly status: RestockStatus;
}

/** Whose ledger: each run has its own, so that the first request of a run is always `RSR-0001`. */
export interface LedgerScope {
  readonly tenant: string;
  readonly runId: string;
}

export interface RestockLedger {
  requestsOf(scope: LedgerScope): readonly RestockRequest[];
  /** What the call with the harness's key recorded; `undefined` when it recorded nothing. */
  requestByKey(scope: LedgerScope, key: string): RestockRequest | undefined;
  /** Records a request under the next number, or gives the one that the key has recorded already. */
  record(scope: LedgerScope, key: string, request: Omit<RestockRequest, "requestId">): RestockRequest;
  /** Forgets the requests of a run. */
  reset(scope: LedgerScope): void;
  /** Every request of every run, by run and number. */
  all(): readonly (RestockRequest & LedgerScope)[];
}

export const LEDGER_SCHEMA = `
CREATE TABLE restock_requests (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  call_key TEXT NOT NULL,
  sku TEXT NOT NULL CHECK (sku GLOB 'SKU-[0-9][0-9][0-9][0-9]'),
  quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 5000),
  priority TEXT NOT NULL CHECK (priority IN ('standard', 'urgent')),
  status TEXT NOT NULL CHECK (status IN ('open', 'pending_approval')),
  PRIMARY KEY (tenant, run_id, number),
  UNIQUE (tenant, run_id, call_key)
) STRICT;
`;

const COLUMNS = "tenant, run_id, number, sku, quantity, priority, status";

export function createRestockLedger(database: DatabaseSync): RestockLedger {
  const ofRun = database.prepare(
    `SELECT ${COLUMNS} FROM restock_requests WHERE tenant = ? AND run_id = ? ORDER BY number`,
  );
  const byKey = database.prepare(
    `SELECT ${COLUMNS} FROM restock_requests WHERE tenant = ? AND run_id = ? AND call_key = ?`,
  );
  // One statement takes the number and writes the row, so two processes cannot give out the same one.
  const insert = database.prepare(
    "INSERT OR IGNORE INTO restock_requests (tenant, run_id, number, call_key, sku, quantity, priority, status) " +
      "SELECT ?1, ?2, count(*) + 1, ?3, ?4, ?5, ?6, ?7 FROM restock_requests WHERE tenant = ?1 AND run_id = ?2",
  );
  const remove = database.prepare("DELETE FROM restock_requests WHERE tenant = ? AND run_id = ?");
  const everything = database.prepare(`SELECT ${COLUMNS} FROM restock_requests ORDER BY tenant, run_id, number`);
  const requestByKey: RestockLedger["requestByKey"] = ({ tenant, runId }, key) => {
    const row = byKey.get(tenant, runId, key);
    return row && requestOf(row);
  };
  return {
    requestsOf: ({ tenant, runId }) => ofRun.all(tenant, runId).map(requestOf),
    requestByKey,
    record: (scope, key, { sku, quantity, priority, status }) => {
      insert.run(scope.tenant, scope.runId, key, sku, quantity, priority, status);
      const recorded = requestByKey(scope, key);
      if (recorded === undefined) {
        throw new TypeError(`the restock request for ${sku} was not recorded`);
      }
      return recorded;
    },
    reset: ({ tenant, runId }) => {
      remove.run(tenant, runId);
    },
    all: () =>
      everything
        .all()
        .map((row) => ({ ...requestOf(row), tenant: String(row["tenant"]), runId: String(row["run_id"]) })),
  };
}

function requestOf(row: Readonly<Record<string, unknown>>): RestockRequest {
  return {
    requestId: `RSR-${String(row["number"]).padStart(4, "0")}`,
    sku: String(row["sku"]),
    quantity: Number(row["quantity"]),
    // The table's own checks allow nothing else.
    priority: row["priority"] as RestockPriority,
    status: row["status"] as RestockStatus,
  };
}
