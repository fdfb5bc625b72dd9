import { allow, ask, defineRule, deny, type Rule, type RuleCall, type RuleContext, type Verdict } from "belay-harness";
import { readRequests, refundsWanted, type Wanted } from "../language/requests.ts";
import { formatRupees, PAISE_PER_RUPEE } from "../money.ts";
import { amountExceedsText, orderCancelledText } from "../tools/preconditions.ts";
import { ageDays, type Order, remainingPaise } from "../world/order-table.ts";
import type { ShopWorld } from "../world/shop-world.ts";
import { amountArg, orderOf, textArg } from "./facts.ts";
import { AUTO_REFUND_PAISE, AUTO_REFUND_PERIOD_MS, REFUND_WINDOW_DAYS } from "./limits.ts";
import { isReplay, openCalls } from "./this-run.ts";

interface RefundFacts {
  readonly order: Order;
  readonly amountPaise: number;
  readonly input: string;
  readonly now: number;
  readonly call: RuleCall;
  readonly context: RuleContext;
}

/** A rule about a refund of an order that exists; one that does not is another rule's business. */
function refundRule(world: ShopWorld, id: string, judge: (facts: RefundFacts) => Verdict | undefined): Rule {
  return defineRule({
    id,
    tools: ["issue_refund"],
    decide: (call, context) => {
      const order = orderOf(world, call, context);
      const { input, now } = context;
      return order === undefined
        ? undefined
        : judge({ order, amountPaise: amountArg(call), input, now, call, context });
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

/**
 * Part of an order is refunded only in an amount that the customer has written as money in their request for this order,
 * and once for all the times that it is written. All that is left needs no amount, unless the customer asks for another.
 */
export function amountStated(world: ShopWorld): Rule {
  return refundRule(world, "amount_stated", ({ order, amountPaise, input, call, context }) => {
    if (isReplay(world, call, context)) {
      return undefined;
    }
    const earlier = refundsOfRun(world, call, context);
    const wanted = refundsWanted(readRequests(input), order.id);
    const states = (one: Wanted): boolean => one.kind === "stated" && one.paise === amountPaise;
    const isStated = amountPaise % PAISE_PER_RUPEE === 0 && wanted.some(states) && !earlier.includes(amountPaise);
    const isAllWanted = wanted.length === 0 || wanted.some((one) => one.kind === "all" || states(one));
    const isAll = amountPaise === remainingPaise(order) && earlier.length === 0 && isAllWanted;
    return isStated || isAll
      ? undefined
      : deny(
          "AMOUNT_NOT_CONFIRMED_BY_USER",
          `the user did not ask for ${formatRupees(amountPaise)} of order ${order.id} in their own message, or it was refunded already`,
        );
  });
}

/**
 * Above the limit a person decides. What agents refunded on the order within a day counts too, so that a large refund
 * cannot be made of small ones.
 */
export function autoLimit(world: ShopWorld): Rule {
  return refundRule(world, "auto_limit", ({ amountPaise, order, now, call, context }) => {
    if (isReplay(world, call, context)) {
      return undefined;
    }
    const limit = formatRupees(AUTO_REFUND_PAISE);
    if (amountPaise > AUTO_REFUND_PAISE) {
      return ask("AMOUNT_ABOVE_AUTO", `above the automatic limit of ${limit}`);
    }
    const ofDay = world.agentRefunds(order.id).filter(({ at }) => at > now - AUTO_REFUND_PERIOD_MS);
    const paid = ofDay.reduce((sum, refund) => sum + refund.amountPaise, 0);
    const open = openCalls(call, context).reduce((sum, other) => sum + amountArg(other), 0);
    return paid + open + amountPaise > AUTO_REFUND_PAISE
      ? ask(
          "AMOUNT_ABOVE_AUTO",
          `with ${formatRupees(paid + open)} of this order within a day above the automatic limit of ${limit}`,
        )
      : undefined;
  });
}

/** Amounts that this run has refunded on the order, or may still refund by another call. */
function refundsOfRun(world: ShopWorld, call: RuleCall, context: RuleContext): readonly number[] {
  const done = world.agentRefunds(textArg(call, "order_id")).filter(({ runId }) => runId === context.runId);
  return [...done.map(({ amountPaise }) => amountPaise), ...openCalls(call, context).map(amountArg)];
}

/** Speaks last: what no rule before it denied or asked about. */
export const refundAllowed: Rule = defineRule({
  id: "refund_allowed",
  tools: ["issue_refund"],
  decide: () => allow("OK", "within the automatic limit"),
});
