import { spacedJson } from "../json-text.ts";
import { type CallRecord, fieldOf } from "../result/call-record.ts";
import { blockCall, type RunGuard } from "./run-guard.ts";

const WRITE = "create_restock_request";

/** Blocks a restock request for a SKU that the user did not name in their own message. */
export function groundedWriteGuard(): RunGuard {
  return {
    name: "grounded_write",
    checkToolCall: ({ name, arguments: args }, { query }) =>
      name !== WRITE || isNamed(query, fieldOf(args, "sku"))
        ? null
        : blockCall("grounded_write", "restock requests need a SKU the user named; ask the user to confirm"),
  };
}

/** What of a run says which writes were made, and for whom. */
interface Writes {
  readonly query: string;
  readonly toolRecords: readonly Pick<CallRecord, "name" | "executed" | "arguments">[];
}

/** Throws for a run that executed a restock request for a SKU that the user never named. */
export function assertNoUngroundedWrites({ query, toolRecords }: Writes): void {
  const ungrounded = toolRecords.filter(
    ({ name, executed, arguments: args }) => executed && name === WRITE && !isNamed(query, fieldOf(args, "sku")),
  );
  if (ungrounded.length > 0) {
    const shown = ungrounded.map(({ arguments: args }) => ({
      sku: fieldOf(args, "sku") ?? null,
      quantity: fieldOf(args, "quantity") ?? null,
      priority: fieldOf(args, "priority") ?? "standard",
    }));
    throw new Error(`restock request(s) for SKUs the user never named: ${spacedJson(shown)}`);
  }
}

function isNamed(query: string, sku: unknown): boolean {
  const named: readonly string[] = query.toUpperCase().match(/\bSKU-\d{4}\b/g) ?? [];
  return typeof sku === "string" && named.includes(sku);
}
