import { type AnyTool, defineTool, type ToolContext, type ToolFailure, toolFailure } from "belay-harness";
import { z } from "zod";
import { findProduct } from "../world/products.ts";
import type { RestockPriority, RestockRequest } from "../world/restock-ledger.ts";
import type { StockroomWorld } from "../world/stockroom-world.ts";
import { sku } from "./inputs.ts";

const QUANTITY_MIN = 10;
/** Up to here a request is accepted at once; above it waits for a buyer. */
const QUANTITY_OPEN_MAX = 500;
const QUANTITY_MAX = 5000;

interface RestockArgs {
  readonly sku: string;
  readonly quantity: number;
  readonly priority?: RestockPriority | undefined;
}

/** The only tool that changes something; a repeat of the same call gives its request again. */
export function restockTool(description: string, world: StockroomWorld): AnyTool {
  return defineTool({
    name: "create_restock_request",
    description,
    level: "write",
    recovery: "keyed",
    input: z.strictObject({
      sku,
      quantity: z.int().meta({ description: "Units to order, a whole number" }),
      priority: z.enum(["standard", "urgent"]).optional().meta({ description: "Default standard" }),
    }),
    execute: (args, context) => restock(world, args, context),
    lookup: (_args, context) => {
      const recorded = world.requestByKey(context, context.idempotencyKey);
      return recorded && answer(recorded);
    },
  });
}

function restock(world: StockroomWorld, args: RestockArgs, context: ToolContext) {
  const recorded = world.requestByKey(context, context.idempotencyKey);
  if (recorded !== undefined) {
    return answer(recorded);
  }
  const refusal = refusalOf(world, args, context);
  if (refusal !== undefined) {
    return refusal;
  }
  const { quantity, priority = "standard" } = args;
  const status = quantity > QUANTITY_OPEN_MAX ? "pending_approval" : "open";
  return answer(world.record(context, context.idempotencyKey, { sku: args.sku, quantity, priority, status }));
}

function refusalOf(world: StockroomWorld, args: RestockArgs, context: ToolContext): ToolFailure | undefined {
  const invalid = (message: string) => toolFailure("invalid_request", message);
  if (findProduct(args.sku) === undefined) {
    return invalid(`there is no product ${args.sku} in the catalogue`);
  }
  if (args.quantity < QUANTITY_MIN) {
    return invalid(`a restock request is for at least ${QUANTITY_MIN} units`);
  }
  if (args.quantity > QUANTITY_MAX) {
    return invalid(`quantities above the hard limit of ${QUANTITY_MAX} units are refused`);
  }
  const open = world.requestsOf(context).find((request) => request.sku === args.sku);
  return open && invalid(`${open.requestId} for ${args.sku} is ${open.status} already; there is one for each SKU`);
}

function answer({ requestId, sku: ordered, quantity, priority, status }: RestockRequest) {
  const name = findProduct(ordered)?.name ?? "";
  return { request_id: requestId, sku: ordered, name, quantity, priority, status };
}
