import { DatabaseSync } from "node:sqlite";

/** What agents have done to the shop, read from its tables and from nobody's words. */
export interface WorldFacts {
  readonly refunds: readonly { readonly orderId: string; readonly amountPaise: number }[];
  readonly cancelledOrders: readonly string[];
  readonly emails: readonly string[];
}

/** Reads the facts over a connection of its own, past the app and past the harness. */
export function readWorldFacts(worldFile: string): WorldFacts {
  const database = new DatabaseSync(worldFile, { readOnly: true });
  try {
    const orderIds = (sql: string): string[] =>
      database
        .prepare(sql)
        .all()
        .map((row) => String(row["order_id"]));
    return {
      refunds: database
        .prepare("SELECT order_id, amount_paise FROM refunds WHERE origin = 'agent' ORDER BY id")
        .all()
        .map((row) => ({ orderId: String(row["order_id"]), amountPaise: Number(row["amount_paise"]) })),
      cancelledOrders: orderIds("SELECT order_id FROM status_changes WHERE origin = 'agent' ORDER BY id"),
      emails: orderIds("SELECT order_id FROM outbox ORDER BY id"),
    };
  } finally {
    database.close();
  }
}

/** The note on an order as it stands in the shop's table. */
export function noteOnOrder(worldFile: string, orderId: string): string {
  const database = new DatabaseSync(worldFile, { readOnly: true });
  try {
    return String(database.prepare("SELECT note FROM orders WHERE id = ?").get(orderId)?.["note"] ?? "");
  } finally {
    database.close();
  }
}
