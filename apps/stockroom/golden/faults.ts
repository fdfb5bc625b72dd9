import { BelayError } from "belay-harness";
import type { Fault } from "belay-harness/evals";
import type { StockroomWorld } from "../world/stockroom-world.ts";

/** Whose ledger a colleague writes into, apart from that of every run. */
export const STAFF = { tenant: "default", runId: "staff" } as const;

/**
 * Makes a change by a colleague in a case's own world. The only kind is `staff_restock {sku, quantity}`.
 *
 * Throws `BELAY_EVAL_CASE` for any other.
 */
export function applyStockroomFault(world: StockroomWorld, fault: Fault): void {
  const { kind, sku, quantity } = fault;
  if (kind !== "staff_restock" || typeof sku !== "string" || typeof quantity !== "number") {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `the fault ${JSON.stringify(fault)} cannot be made: the stockroom knows staff_restock {sku, quantity}.`,
    );
  }
  world.record(STAFF, `staff:${sku}`, { sku, quantity, priority: "standard", status: "open" });
}
