import type { RuleCall, RuleContext } from "belay-harness";
import { ageDays, type Order, remainingPaise } from "../world/order-table.ts";
import type { ShopWorld } from "../world/shop-world.ts";

/** A text argument; the schema has been checked before any rule, so a missing one is the empty text. */
export function textArg(call: RuleCall, name: string): string {
  const value = argOf(call, name);
  return typeof value === "string" ? value : "";
}

/** The amount of a refund, in paise. */
export function amountArg(call: RuleCall): number {
  const value = argOf(call, "amount_paise");
  // No comparison holds for NaN, so a rule must never let one through by a comparison that fails.
  return typeof value === "number" ? value : Number.POSITIVE_INFINITY;
}

/** The order that a call is about, as it is now; what the rule read goes into the decision's record. */
export function orderOf(world: ShopWorld, call: RuleCall, context: RuleContext): Order | undefined {
  const order = world.order(textArg(call, "order_id"));
  context.read(
    "order",
    order === undefined
      ? null
      : {
          id: order.id,
          customer: order.customerId,
          status: order.status,
          ageDays: ageDays(order, context.now),
          remainingPaise: remainingPaise(order),
        },
  );
  return order;
}

function argOf(call: RuleCall, name: string): unknown {
  const { args } = call;
  return typeof args === "object" && args !== null && !Array.isArray(args) && Object.hasOwn(args, name)
    ? (args as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
