import { allow, ask, defineRule, deny, type Rule, type Verdict } from "belay-harness";
import { statesAmount } from "../language/amounts.ts";
import { formatRupees } from "../money.ts";
import { amountExceedsText, orderCancelledText } from "../tools/preconditions.ts";
import { ageDays, type Order, remainingPaise } from "../world/order-table.ts";
import type { ShopWorld } from "../world/shop-world.ts";
import { amountArg, orderOf } from "./facts.ts";
import { AUTO_REFUND_PAISE, REFUND_WINDOW_DAYS } from "./limits.ts";

interface RefundFacts {
  readonly order: Order;
  readonly amountPaise: number;
  readonly input: string;
  readonly now: number;
}

/** A rule about a refund of an order that exists; one that does not is another rule's business. */
function refundRule(world: ShopWorld, id: string, judge: (facts: RefundFacts) => Verdict | undefined): Rule {
  return defineRule({
    id,
    tools: ["issue_refund"],
    decide: (call, context) => {
      const order = orderOf(world, call, context);
      const { input, now } = context;
      return order === undefined ? undefined : judge({ order, amountPaise: amountArg(call), input, now });
    },
  });
}

export function orderNotCancelled(world: ShopWorld): Rule {
  return refundRule(world, "order_not_cancelled", ({ order }) =>
    order.status === "cancelled" ? deny("ORDER_CANCELLED", orderCancelledText(order)) : undefined,
  );
}

export function refundWindow(world: ShopWorld): Rule {
  return refundRule(world, "refund_window", ({ order, now }) => {
    const days = ageDays(order, now);
    return days > REFUND_WINDOW_DAYS
      ? deny("REFUND_WINDOW_CLOSED", `order is ${days} days old; refunds end after ${REFUND_WINDOW_DAYS} days`)
      : undefined;
  });
}

export function amountRemaining(world: ShopWorld): Rule {
  return refundRule(world, "amount_remaining", ({ order, amountPaise }) =>
    amountPaise > remainingPaise(order) ? deny("AMOUNT_EXCEEDS_REMAINING", amountExceedsText(order)) : undefined,
  );
}

/** Part of an order is refunded only in an amount that the customer has written as money. */
export function amountStated(world: ShopWorld): Rule {
  return refundRule(world, "amount_stated", ({ order, amountPaise, input }) =>
    amountPaise === remainingPaise(order) || statesAmount(input, amountPaise)
      ? undefined
      : deny(
          "AMOUNT_NOT_CONFIRMED_BY_USER",
          `the user did not state ${formatRupees(amountPaise)} in their own message, and it is not all that is left`,
        ),
  );
}

/** Above the limit a person decides. */
export const autoLimit: Rule = defineRule({
  id: "auto_limit",
  tools: ["issue_refund"],
  decide: (call) =>
    amountArg(call) > AUTO_REFUND_PAISE
      ? ask("AMOUNT_ABOVE_AUTO", `above the automatic limit of ${formatRupees(AUTO_REFUND_PAISE)}`)
      : undefined,
});

/** Speaks last: what no rule before it denied or asked about. */
export const refundAllowed: Rule = defineRule({
  id: "refund_allowed",
  tools: ["issue_refund"],
  decide: () => allow("OK", "within the automatic limit"),
});
