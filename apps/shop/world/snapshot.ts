import type { DatabaseSync } from "node:sqlite";

/** What is different from the seeded shop, in paise and in the order in which it happened. */
export interface ShopSnapshot {
  readonly refunds: Readonly<Record<string, readonly number[]>>;
  readonly status: Readonly<Record<string, string>>;
  readonly outbox: readonly {
    readonly order: string;
    readonly to: string;
    readonly subject: string;
    readonly body: string;
  }[];
  /** Length of `outbox`, so that a case can expect a number of e-mails without their texts. */
  readonly emails: number;
}

export function snapshotOf(database: DatabaseSync): ShopSnapshot {
  const refunds: Record<string, number[]> = {};
  const made = database.prepare("SELECT order_id, amount_paise FROM refunds WHERE origin <> 'seed' ORDER BY id").all();
  for (const row of made) {
    const order = String(row["order_id"]);
    refunds[order] = [...(refunds[order] ?? []), Number(row["amount_paise"])];
  }
  const changed = database
    .prepare(
      "SELECT id, status FROM orders WHERE status <> (SELECT from_status FROM status_changes WHERE order_id = orders.id ORDER BY status_changes.id LIMIT 1) ORDER BY id",
    )
    .all();
  const outbox = database
    .prepare("SELECT order_id, recipient, subject, body FROM outbox ORDER BY id")
    .all()
    .map((row) => ({
      order: String(row["order_id"]),
      to: String(row["recipient"]),
      subject: String(row["subject"]),
      body: String(row["body"]),
    }));
  return {
    refunds,
    status: Object.fromEntries(changed.map((row) => [String(row["id"]), String(row["status"])])),
    outbox,
    emails: outbox.length,
  };
}
