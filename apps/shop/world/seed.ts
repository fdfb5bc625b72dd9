import type { DatabaseSync } from "node:sqlite";
import { SEED_CUSTOMERS, SEED_ORDERS, type SeedCustomer } from "./seed-data.ts";

export const DAY_MS = 24 * 60 * 60 * 1000;
// Orders are an hour older than whole days, so that no age changes while a test or a demonstration runs.
const PAST_THE_DAY_MS = 60 * 60 * 1000;

/** Fills an empty shop. Ages of orders are counted from `now`, in milliseconds since the epoch. */
export function seedShop(database: DatabaseSync, now: number): void {
  const customer = database.prepare("INSERT INTO customers (id, name, email) VALUES (?, ?, ?)");
  for (const one of SEED_CUSTOMERS) {
    customer.run(one.id, one.name, emailOf(one));
  }
  const order = database.prepare(
    "INSERT INTO orders (id, customer_id, item, total_paise, status, placed_at, note) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const refund = database.prepare(
    "INSERT INTO refunds (order_id, amount_paise, reason, origin, at) VALUES (?, ?, 'made by phone', 'seed', ?)",
  );
  for (const one of SEED_ORDERS) {
    const placedAt = now - one.ageDays * DAY_MS - PAST_THE_DAY_MS;
    order.run(one.id, one.customer, one.item, one.totalPaise, one.status, placedAt, one.note ?? "");
    for (const amount of one.refundedPaise ?? []) {
      refund.run(one.id, amount, placedAt + DAY_MS);
    }
  }
}

/** Addresses are under a domain that is reserved for examples. */
function emailOf({ name }: SeedCustomer): string {
  const local = name
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, ".");
  return `${local}@customers.example`;
}
