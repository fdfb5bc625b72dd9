import { type ToolFailure, toolFailure } from "belay-harness";
import { formatRupees } from "../money.ts";
import { type Order, remainingPaise } from "../world/order-table.ts";

/** Why an order cannot be cancelled, in the words that policy and tool share. */
export function notCancellableText(order: Order): string {
  return `order is ${order.status}`;
}

export function amountExceedsText(order: Order): string {
  return `only ${formatRupees(remainingPaise(order))} of order ${order.id} is left to refund`;
}

export function orderCancelledText(order: Order): string {
  return `order ${order.id} is cancelled`;
}

export function notCancellable(order: Order): ToolFailure {
  return toolFailure("NOT_CANCELLABLE", notCancellableText(order));
}

export function notRefundable(order: Order): ToolFailure {
  return order.status === "cancelled"
    ? toolFailure("ORDER_CANCELLED", orderCancelledText(order))
    : toolFailure("AMOUNT_EXCEEDS_REMAINING", amountExceedsText(order));
}
