import { type AnyTool, defineTool } from "belay-harness";
import { z } from "zod";
import { shopCustomer } from "../customer.ts";
import { ageDays, type Order, remainingPaise } from "../world/order-table.ts";
import type { ShopWorld } from "../world/shop-world.ts";
import { orderNotFound, serviceUnavailable } from "./failures.ts";
import { orderId } from "./inputs.ts";

const FOUND_MAX = 20;
const FOUND_DEFAULT = 10;

/** The two tools that only look. Their results hold notes of outsiders, so the model sees them as untrusted. */
export function readTools(world: ShopWorld): readonly AnyTool[] {
  const getOrder = defineTool({
    name: "get_order",
    description: "Get one order by its number: item, status, age in days, amounts in paise, and the note on it.",
    level: "read",
    recovery: "read",
    untrusted: true,
    input: z.strictObject({ order_id: orderId }),
    execute: ({ order_id }, { now }) => {
      if (world.takeFailure("get_order")) {
        return serviceUnavailable("get_order");
      }
      const order = world.order(order_id);
      return order === undefined ? orderNotFound(order_id) : { ok: true, order: describeOrder(order, now) };
    },
  });
  const searchOrders = defineTool({
    name: "search_orders",
    description: "Search orders by words of the item or number, and by status; the newest first.",
    level: "read",
    recovery: "read",
    untrusted: true,
    input: z.strictObject({
      query: z.string().max(100).meta({ description: "Words that must all occur; an empty text finds every order" }),
      status: z.enum(["placed", "shipped", "delivered", "cancelled"]).optional(),
      limit: z
        .int()
        .min(1)
        .max(FOUND_MAX)
        .optional()
        .meta({ description: `Default ${FOUND_DEFAULT}` }),
    }),
    execute: ({ query, status, limit = FOUND_DEFAULT }, { principal }) => {
      if (world.takeFailure("search_orders")) {
        return serviceUnavailable("search_orders");
      }
      const customerId = shopCustomer(principal);
      const found = world.search({
        query,
        limit,
        ...(status && { status }),
        ...(customerId !== undefined && { customerId }),
      });
      return {
        ok: true,
        orders: found.map(({ id, item, status: state, totalPaise }) => ({
          order_id: id,
          item,
          status: state,
          total_paise: totalPaise,
        })),
      };
    },
  });
  return [getOrder, searchOrders];
}

/** What the model is told about an order: no name and no address of the customer. */
function describeOrder(order: Order, now: number) {
  return {
    order_id: order.id,
    item: order.item,
    status: order.status,
    age_days: ageDays(order, now),
    total_paise: order.totalPaise,
    refunded_paise: order.refundedPaise,
    remaining_paise: remainingPaise(order),
    note: order.note,
  };
}
