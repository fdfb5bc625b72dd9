import { type AnyTool, defineTool } from "belay-harness";
import { z } from "zod";
import { remainingPaise } from "../world/order-table.ts";
import type { ShopWorld } from "../world/shop-world.ts";
import { orderNotFound } from "./failures.ts";
import { amountPaise, idempotencyKey, line, orderId } from "./inputs.ts";
import { keyedWrite } from "./keyed-write.ts";
import { notCancellable, notRefundable } from "./preconditions.ts";

const reason = line(200).optional();

/**
 * The three tools that change something. Each happens once per key and looks its outcome up after a crash.
 *
 * What must be true is stated again inside each write, so that no decision that has become stale can pass.
 */
export function writeTools(world: ShopWorld): readonly AnyTool[] {
  return [issueRefund(world), cancelOrder(world), sendEmail(world)];
}

function issueRefund(world: ShopWorld): AnyTool {
  return defineTool({
    name: "issue_refund",
    description: "Pay an amount of an order back to its customer. Cannot be undone.",
    level: "irreversible",
    recovery: "keyed",
    inTransaction: true,
    input: z.strictObject({
      order_id: orderId,
      amount_paise: amountPaise,
      idempotency_key: idempotencyKey,
      reason,
    }),
    execute: (args, context) =>
      keyedWrite(world, "issue_refund", args, context, () => {
        const { order_id, amount_paise } = args;
        const isWritten = world.insertRefund({
          orderId: order_id,
          amountPaise: amount_paise,
          runId: context.runId,
          at: context.now,
          ...(args.reason !== undefined && { reason: args.reason }),
        });
        const order = world.order(order_id);
        if (order === undefined) {
          return orderNotFound(order_id);
        }
        return isWritten
          ? { ok: true, order_id, refunded_paise: amount_paise, remaining_paise: remainingPaise(order) }
          : notRefundable(order);
      }),
    lookup: (_args, { idempotencyKey: callKey }) => world.settledCall(callKey),
  });
}

function cancelOrder(world: ShopWorld): AnyTool {
  return defineTool({
    name: "cancel_order",
    description: "Cancel an order that is placed and not yet shipped.",
    level: "write",
    recovery: "keyed",
    inTransaction: true,
    input: z.strictObject({ order_id: orderId, idempotency_key: idempotencyKey, reason }),
    execute: (args, context) =>
      keyedWrite(world, "cancel_order", args, context, () => {
        const isWritten = world.cancel(args.order_id, { runId: context.runId, at: context.now });
        const order = world.order(args.order_id);
        if (order === undefined) {
          return orderNotFound(args.order_id);
        }
        return isWritten ? { ok: true, order_id: args.order_id, status: order.status } : notCancellable(order);
      }),
    lookup: (_args, { idempotencyKey: callKey }) => world.settledCall(callKey),
  });
}

function sendEmail(world: ShopWorld): AnyTool {
  return defineTool({
    name: "send_email",
    description: "Send an e-mail about an order. It goes to the address on the order; no other can be given.",
    level: "irreversible",
    recovery: "keyed",
    inTransaction: true,
    input: z.strictObject({
      order_id: orderId,
      subject: line(120),
      body: z.string().min(1).max(2000),
      idempotency_key: idempotencyKey,
    }),
    execute: (args, context) =>
      keyedWrite(world, "send_email", args, context, () => {
        const recipient = world.insertEmail({
          orderId: args.order_id,
          subject: args.subject,
          body: args.body,
          runId: context.runId,
          at: context.now,
        });
        // The address stays out of the result: the model has no use for it.
        return recipient === undefined
          ? orderNotFound(args.order_id)
          : { ok: true, order_id: args.order_id, sent_to: "the address on the order" };
      }),
    lookup: (_args, { idempotencyKey: callKey }) => world.settledCall(callKey),
  });
}
