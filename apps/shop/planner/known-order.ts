import { type Attempt, fieldsOf } from "./history.ts";

/** What the tools said about an order. */
export interface KnownOrder {
  readonly id: string;
  readonly item: string;
  readonly status: string;
  readonly ageDays: number;
  readonly totalPaise: number;
  readonly refundedPaise: number;
  readonly remainingPaise: number;
}

/** The order as the last successful look showed it; the note on it is left out on purpose. */
export function knownOrder(attempts: readonly Attempt[], orderId: string): KnownOrder | undefined {
  const look = attempts.findLast(
    ({ tool, args, answer }) => tool === "get_order" && args["order_id"] === orderId && answer.ok,
  );
  if (look === undefined || !look.answer.ok) {
    return undefined;
  }
  const order = fieldsOf(look.answer.data["order"]);
  return {
    id: orderId,
    item: String(order["item"] ?? "unknown item"),
    status: String(order["status"] ?? "unknown"),
    ageDays: numberOf(order["age_days"]),
    totalPaise: numberOf(order["total_paise"]),
    refundedPaise: numberOf(order["refunded_paise"]),
    remainingPaise: numberOf(order["remaining_paise"]),
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
