import { BelayError } from "belay-harness";
import type { Fault } from "belay-harness/evals";
import type { ShopWorld } from "../world/shop-world.ts";

/**
 * Makes a fault, or a change by the shop's staff, in a case's own world.
 *
 * Kinds: `fail {tool, times}`, `staff_cancel {order}`, `staff_refund {order, amountPaise}`, `age {order, days}`. Throws
 * `BELAY_EVAL_CASE` for any other, and when the change was not possible.
 */
export function applyShopFault(world: ShopWorld, fault: Fault): void {
  const at = Date.now();
  switch (fault.kind) {
    case "fail":
      world.failNext(text(fault, "tool"), amount(fault, "times"));
      return;
    case "staff_cancel":
      mustHappen(world.cancel(text(fault, "order"), { at }), fault);
      return;
    case "staff_refund":
      mustHappen(
        world.insertRefund({ orderId: text(fault, "order"), amountPaise: amount(fault, "amountPaise"), at }),
        fault,
      );
      return;
    case "age":
      world.placeDaysEarlier(text(fault, "order"), amount(fault, "days"));
      return;
    default:
      throw invalid(fault, "the shop knows fail, staff_cancel, staff_refund and age");
  }
}

function text(fault: Fault, name: string): string {
  const value = fault[name];
  if (typeof value !== "string") {
    throw invalid(fault, `${name} must be a text`);
  }
  return value;
}

function amount(fault: Fault, name: string): number {
  const value = fault[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1) {
    throw invalid(fault, `${name} must be a whole number from 1`);
  }
  return value;
}

function mustHappen(hasHappened: boolean, fault: Fault): void {
  if (!hasHappened) {
    throw invalid(fault, "it was not possible in this world");
  }
}

function invalid(fault: Fault, problem: string): BelayError {
  return new BelayError("BELAY_EVAL_CASE", `the fault ${JSON.stringify(fault)} cannot be made: ${problem}.`);
}
