import { type Attempt, type Fields, fieldsOf, listOf, textOf } from "./history.ts";
import type { Task } from "./understand.ts";

/** Of a long list only the beginning is told, as a reader of a long prompt would. */
const LISTED_MAX = 5;

/** What one call came to, in a sentence or two. */
export function describe(attempt: Attempt, task: Task | undefined): string {
  const { data, isError, text } = attempt;
  if (isError) {
    return describeError(data);
  }
  if (data["products"] !== undefined) {
    return describeProducts(data);
  }
  if (data["units_in_stock"] !== undefined) {
    return describeStock(data, task);
  }
  if (data["order_id"] !== undefined) {
    return describeOrder(data);
  }
  if (data["request_id"] !== undefined) {
    return describeRequest(data);
  }
  return data["results"] === undefined ? describeRest(text) : describePolicy(data);
}

/** Whether a stock level calls for a restock; `undefined` when the result does not say. */
export function isAtReorderPoint(data: Fields): boolean | undefined {
  const { units_in_stock: units, reorder_point: point } = data;
  return typeof units === "number" && typeof point === "number" ? units <= point : undefined;
}

function describeError(data: Fields): string {
  const message = textOf(data["message"]);
  switch (data["error"]) {
    case "transient":
      return "The order system does not answer at the moment; please try again later.";
    case "blocked_by_guard":
      return `That was not done: ${message}.`;
    default:
      return `That did not work: ${message}.`;
  }
}

function describeProducts(data: Fields): string {
  const products = listOf(data["products"]).map(fieldsOf);
  if (products.length === 0) {
    return `I found no products for "${textOf(data["query"])}".`;
  }
  const listed = products.slice(0, LISTED_MAX).map((product) => {
    const price = `$${Number(product["unit_price_usd"]).toFixed(2)}`;
    return `${textOf(product["sku"])} ${textOf(product["name"])} (${price}, ${textOf(product["in_stock"])} units in stock)`;
  });
  const more = products.length > LISTED_MAX ? `; and ${products.length - LISTED_MAX} more` : "";
  return `I found ${products.length} product(s): ${listed.join("; ")}${more}.`;
}

function describeStock(data: Fields, task: Task | undefined): string {
  const { aisle, bin } = fieldsOf(data["location"]);
  const isLow = isAtReorderPoint(data) === true;
  const isCompared = task?.intent === "stock" && task.isAboutReorder;
  const level = `${textOf(data["units_in_stock"])} units in stock`;
  const reorder = `reorder point ${textOf(data["reorder_point"])}`;
  const comparison = isCompared
    ? ` which is ${isLow ? "at or below" : "above"} its reorder point (${reorder})`
    : ` (${reorder})`;
  return `${named(data)} has ${level}${comparison}; location aisle ${textOf(aisle)}, bin ${textOf(bin)}.`;
}

function describeOrder(data: Fields): string {
  const head = `Order ${textOf(data["order_id"])} for ${textOf(data["customer"])} is ${textOf(data["status"])}.`;
  const items = listOf(data["items"])
    .map(fieldsOf)
    .map((item) => `${textOf(item["quantity"])} of ${textOf(item["sku"])}`);
  const parts = [head];
  if (data["carrier"] !== null) {
    const ends = data["delivered_on"] === null ? `estimated delivery ${textOf(data["estimated_delivery"])}` : "";
    const arrived = data["delivered_on"] === null ? ends : `delivered on ${textOf(data["delivered_on"])}`;
    parts.push(
      `It shipped with ${textOf(data["carrier"])} on ${textOf(data["shipped_on"])}, ` +
        `tracking ${textOf(data["tracking_number"])}; ${arrived}.`,
    );
  } else if (data["estimated_delivery"] !== null) {
    parts.push(`Its estimated delivery is ${textOf(data["estimated_delivery"])}.`);
  }
  return [...parts, `Items: ${items.join(", ")}.`].join(" ");
}

function describeRequest(data: Fields): string {
  return (
    `Created restock request ${textOf(data["request_id"])} for ${textOf(data["quantity"])} units of ${named(data)} ` +
    `with priority ${textOf(data["priority"])}; status ${textOf(data["status"])}.`
  );
}

function describePolicy(data: Fields): string {
  const [best] = listOf(data["results"]).map(fieldsOf);
  return best === undefined
    ? "The policy documents say nothing about that."
    : `From ${textOf(best["title"])} — ${textOf(best["section"])}: ${textOf(best["text"]).replace(/\s+/g, " ")}`;
}

/** A summary has no fields any more, but what it names can still be told. */
function describeRest(text: string): string {
  const skus = [...new Set(text.match(/\bSKU-\d{4}\b/g) ?? [])];
  return skus.length === 0 ? "An earlier result is no longer at hand." : `An earlier search found ${skus.join(", ")}.`;
}

function named(data: Fields): string {
  return `${textOf(data["sku"])} (${textOf(data["name"])})`;
}
