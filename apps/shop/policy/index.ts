import type { Rule } from "belay-harness";
import type { ShopWorld } from "../world/shop-world.ts";
import {
  cancelAllowed,
  cancellable,
  emailAllowed,
  emailOnce,
  namedOrder,
  orderBelongsToCustomer,
  orderExists,
  requestedByCustomer,
} from "./order-rules.ts";
import {
  amountRemaining,
  amountStated,
  autoLimit,
  orderNotCancelled,
  refundAllowed,
  refundWindow,
} from "./refund-rules.ts";

/**
 * The shop's policy, in the order of its source ("A Tool-Using Agent With Guardrails, an Approval Gate and an Audit
 * Log"). Its first two codes, `TOOL_NOT_ALLOWED` and `INVALID_ARGS`, are given by the harness before any rule, and so is
 * `OK` "read-only" for tools that only look.
 */
export function shopRules(world: ShopWorld): readonly Rule[] {
  return [
    namedOrder,
    orderExists(world),
    orderBelongsToCustomer(world),
    cancellable(world),
    cancelAllowed,
    orderNotCancelled(world),
    refundWindow(world),
    amountRemaining(world),
    amountStated(world),
    autoLimit(world),
    refundAllowed,
    emailOnce(world),
    emailAllowed,
    requestedByCustomer,
  ];
}
