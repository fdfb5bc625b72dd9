import type { DatabaseSync } from "node:sqlite";
import type { JsonValue } from "belay-harness";

/** Where a key that the model chose counts: one tool in one run. */
interface KeyScope {
  readonly tenant: string;
  readonly runId: string;
  readonly tool: string;
  readonly key: string;
}

export type WriteResult = { readonly [name: string]: JsonValue };

/** Which writes have happened, so that none happens twice. */
export interface WriteLedger {
  /** The first write under the model's key. */
  writeByKey(scope: KeyScope): { readonly argsHash: string; readonly result: WriteResult } | undefined;
  recordKey(scope: KeyScope, argsHash: string, result: WriteResult): void;
  /** What the call with the harness's key did; `undefined` when it did not happen. */
  settledCall(callKey: string): WriteResult | undefined;
  recordCall(callKey: string, result: WriteResult): void;
}

export function createWriteLedger(database: DatabaseSync): WriteLedger {
  const byKey = database.prepare(
    "SELECT args_hash, result FROM idempotency WHERE tenant = ? AND run_id = ? AND tool = ? AND key = ?",
  );
  const addKey = database.prepare(
    "INSERT INTO idempotency (tenant, run_id, tool, key, args_hash, result) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const byCall = database.prepare("SELECT result FROM settled_calls WHERE call_key = ?");
  const addCall = database.prepare("INSERT INTO settled_calls (call_key, result) VALUES (?, ?)");
  return {
    writeByKey: ({ tenant, runId, tool, key }) => {
      const row = byKey.get(tenant, runId, tool, key);
      return row && { argsHash: String(row["args_hash"]), result: parse(row["result"]) };
    },
    recordKey: ({ tenant, runId, tool, key }, argsHash, result) => {
      addKey.run(tenant, runId, tool, key, argsHash, JSON.stringify(result));
    },
    settledCall: (callKey) => {
      const row = byCall.get(callKey);
      return row && parse(row["result"]);
    },
    recordCall: (callKey, result) => {
      addCall.run(callKey, JSON.stringify(result));
    },
  };
}

function parse(text: unknown): WriteResult {
  return JSON.parse(String(text));
}
