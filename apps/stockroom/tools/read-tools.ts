import { type AnyTool, defineTool, type ToolContext, type ToolFailure, toolFailure } from "belay-harness";
import { z } from "zod";
import type { Search } from "../search/bm25.ts";
import type { PolicyChunk } from "../search/policy-chunks.ts";
import { searchProducts } from "../search/product-search.ts";
import { findOrder, isLegacy, type Order } from "../world/orders.ts";
import { findProduct, PRODUCTS } from "../world/products.ts";
import type { StockroomWorld } from "../world/stockroom-world.ts";
import { orderId, searchQuery, sku } from "./inputs.ts";
import { INTERNAL } from "./internal-fields.ts";
import { fullProductRecord, productRecord } from "./product-record.ts";

const RESULTS_DEFAULT = 5;
const RESULTS_MAX = 20;
const POLICY_RESULTS = 3;
const QUERY_HINT = "Words to look for";

export function searchProductsTool(description: string): AnyTool {
  return defineTool({
    name: "search_products",
    description,
    level: "read",
    recovery: "read",
    input: z.strictObject({
      query: searchQuery(QUERY_HINT),
      max_results: z
        .int()
        .min(1)
        .max(RESULTS_MAX)
        .optional()
        .meta({ description: `Default ${RESULTS_DEFAULT}` }),
    }),
    execute: ({ query, max_results = RESULTS_DEFAULT }) => {
      const products = searchProducts(query).slice(0, max_results);
      return { query, matches: products.length, products: products.map(({ document }) => productRecord(document)) };
    },
  });
}

/** The tool under `oversized_payload`: no limit, no ranking, every field. */
export function oversizedSearchTool(description: string): AnyTool {
  return defineTool({
    name: "search_products",
    description,
    level: "read",
    recovery: "read",
    input: z.strictObject({ query: searchQuery(QUERY_HINT) }),
    execute: ({ query }) => {
      const found = new Set(searchProducts(query).map(({ document }) => document));
      const products = PRODUCTS.filter((product) => found.has(product)).map(fullProductRecord);
      return { query, matches: products.length, products };
    },
  });
}

export function stockLevelTool(description: string): AnyTool {
  return defineTool({
    name: "get_stock_level",
    description,
    level: "read",
    recovery: "read",
    input: z.strictObject({ sku }),
    execute: ({ sku: wanted }) => {
      const product = findProduct(wanted);
      if (product === undefined) {
        return toolFailure("invalid_request", `there is no product ${wanted} in the catalogue`);
      }
      const { name, unitsInStock, reorderPoint, aisle, bin } = product;
      return {
        sku: wanted,
        name,
        units_in_stock: unitsInStock,
        reorder_point: reorderPoint,
        location: { aisle, bin },
      };
    },
  });
}

function archiveDown(id: string): ToolFailure {
  const message =
    `the archive of the old order system did not answer for ${id} within its time; nothing is known about the order, ` +
    "and the look-up itself was correct. The archive is woken up by the first request of a session and mostly answers " +
    "the next one, so the same look-up may be sent once more";
  return toolFailure("transient", message, { retryable: true });
}

/**
 * Looks an order up. The archive behind legacy orders fails the first look-up of an order in a run, so the tool tries
 * once more by itself, unless `naive_retry` takes that away; then the archive never wakes up.
 */
export function orderStatusTool(description: string, world: StockroomWorld, isNaive: boolean): AnyTool {
  return defineTool({
    name: "get_order_status",
    description,
    level: "read",
    recovery: "read",
    input: z.strictObject({ order_id: orderId }),
    execute: ({ order_id }, context) => {
      const order = findOrder(order_id);
      if (order === undefined) {
        return toolFailure("invalid_request", `there is no order ${order_id}`);
      }
      if (!isLegacy(order_id)) {
        return orderRecord(order);
      }
      if (isNaive) {
        return archiveDown(order_id);
      }
      if (archiveAnswers(world, context, order_id)) {
        return orderRecord(order);
      }
      return archiveAnswers(world, context, order_id)
        ? { ...orderRecord(order), [INTERNAL]: { attempts: 2, first_error: "transient" } }
        : archiveDown(order_id);
    },
  });
}

function archiveAnswers(world: StockroomWorld, { tenant, runId }: ToolContext, id: string): boolean {
  return world.countLookup({ tenant, runId }, id) > 1;
}

function orderRecord({ orderId: order_id, customer, status, items, carrier, ...dates }: Order) {
  return {
    order_id,
    customer,
    status,
    items,
    carrier: carrier ?? null,
    tracking_number: dates.tracking ?? null,
    shipped_on: dates.shippedOn ?? null,
    estimated_delivery: dates.estimatedDelivery ?? null,
    delivered_on: dates.deliveredOn ?? null,
  };
}

export function policyTool(description: string, search: Search<PolicyChunk>): AnyTool {
  return defineTool({
    name: "search_policy_docs",
    description,
    level: "read",
    recovery: "read",
    // Anybody in the company may edit a policy document.
    untrusted: true,
    input: z.strictObject({ query: searchQuery(QUERY_HINT) }),
    execute: ({ query }) => ({
      query,
      results: search(query)
        .slice(0, POLICY_RESULTS)
        .map(({ document: { id, document, title, section, text } }) => ({ id, document, title, section, text })),
    }),
  });
}
