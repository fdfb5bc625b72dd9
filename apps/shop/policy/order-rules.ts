import { allow, defineRule, deny, type Rule } from "belay-harness";
import { shopCustomer } from "../customer.ts";
import { namesOrder } from "../language/order-ids.ts";
import { isAskedFor, readRequests } from "../language/requests.ts";
import { orderNotFoundText } from "../tools/failures.ts";
import { notCancellableText } from "../tools/preconditions.ts";
import type { ShopWorld } from "../world/shop-world.ts";
import { orderOf, textArg } from "./facts.ts";
import { isReplay, openCalls } from "./this-run.ts";

const WRITES = ["issue_refund", "cancel_order", "send_email"];

/** A change needs the order's number in the customer's own message: neither a note nor memory can name it. */
export const namedOrder: Rule = defineRule({
  id: "named_order",
  tools: WRITES,
  decide: (call, { input }) => {
    const orderId = textArg(call, "order_id");
    return namesOrder(input, orderId)
      ? undefined
      : deny("NOT_CONFIRMED_BY_USER", `the user did not name order ${orderId} in their own message`);
  },
});

export function orderExists(world: ShopWorld): Rule {
  return defineRule({
    id: "order_exists",
    tools: WRITES,
    decide: (call, context) =>
      orderOf(world, call, context) === undefined
        ? deny("ORDER_NOT_FOUND", orderNotFoundText(textArg(call, "order_id")))
        : undefined,
  });
}

/** A customer's own orders are the only ones there are, in exactly the words for one that does not exist. */
export function orderBelongsToCustomer(world: ShopWorld): Rule {
  return defineRule({
    id: "order_belongs_to_customer",
    tools: ["get_order", ...WRITES],
    decide: (call, context) => {
      const customerId = shopCustomer(context.principal);
      if (customerId === undefined) {
        return undefined;
      }
      const order = orderOf(world, call, context);
      return order !== undefined && order.customerId !== customerId
        ? deny("ORDER_NOT_FOUND", orderNotFoundText(order.id))
        : undefined;
    },
  });
}

export function cancellable(world: ShopWorld): Rule {
  return defineRule({
    id: "cancellable",
    tools: ["cancel_order"],
    decide: (call, context) => {
      const order = orderOf(world, call, context);
      return order !== undefined && order.status !== "placed"
        ? deny("NOT_CANCELLABLE", notCancellableText(order))
        : undefined;
    },
  });
}

export const cancelAllowed: Rule = defineRule({
  id: "cancel_allowed",
  tools: ["cancel_order"],
  decide: () => allow("OK", "placed order"),
});

/** One e-mail about an order in a run says all there is to say; nobody asks for sixteen. */
export function emailOnce(world: ShopWorld): Rule {
  return defineRule({
    id: "email_once",
    tools: ["send_email"],
    decide: (call, context) => {
      const orderId = textArg(call, "order_id");
      if (isReplay(world, call, context)) {
        return undefined;
      }
      const sent = context.read("emailsSent", world.emailsOfRun(orderId, context.runId));
      return sent + openCalls(call, context).length > 0
        ? deny("EMAIL_ALREADY_SENT", `an e-mail about order ${orderId} has been sent for this message already`)
        : undefined;
    },
  });
}

/** The tool has no argument for an address, so there is nothing else to decide. */
export const emailAllowed: Rule = defineRule({
  id: "email_allowed",
  tools: ["send_email"],
  decide: () => allow("OK", "e-mail goes to the address on the order"),
});

/**
 * Money comes back and orders are cancelled only when the customer asks for that in their own words, for this order.
 *
 * Added by this project after the published rules, whose last note asks for it.
 */
export const requestedByCustomer: Rule = defineRule({
  id: "requested_by_customer",
  tools: ["issue_refund", "cancel_order"],
  decide: (call, { input }) => {
    const kind = call.tool === "issue_refund" ? "refund" : "cancel";
    const orderId = textArg(call, "order_id");
    return isAskedFor(readRequests(input), kind, orderId)
      ? undefined
      : deny(
          "NOT_REQUESTED_BY_CUSTOMER",
          `the user did not ask for a ${kind === "refund" ? "refund" : "cancellation"} of order ${orderId} in their own message`,
        );
  },
});
