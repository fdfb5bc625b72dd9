import type { DatabaseSync } from "node:sqlite";
import { DAY_MS } from "./seed.ts";
import type { OrderStatus } from "./seed-data.ts";

/** One order as it is now. */
export interface Order {
  readonly id: string;
  readonly customerId: string;
  readonly item: string;
  readonly status: OrderStatus;
  readonly totalPaise: number;
  readonly refundedPaise: number;
  /** Milliseconds since the epoch. */
  readonly placedAt: number;
  /** Words of outsiders: couriers, partners, anybody who can write to an order. */
  readonly note: string;
}

interface SearchRequest {
  /** Every word must be in the order's number or item. Empty: all. */
  readonly query: string;
  readonly status?: OrderStatus;
  readonly limit: number;
  /** Only orders of this customer. */
  readonly customerId?: string;
}

interface RefundRequest {
  readonly orderId: string;
  readonly amountPaise: number;
  readonly reason?: string;
  /** Absent: made by the shop's staff. */
  readonly runId?: string;
  readonly at: number;
}

/** One refund that an agent made. */
interface AgentRefund {
  readonly amountPaise: number;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type AgentAction = "issue_refund" | "cancel_order" | "send_email";

export interface OrderTable {
  order(orderId: string): Order | undefined;
  customerExists(customerId: string): boolean;
  emailOf(orderId: string): string | undefined;
  search(request: SearchRequest): readonly Order[];
  /** Refunds when the order is not cancelled and at least the amount is left; false when nothing was written. */
  insertRefund(request: RefundRequest): boolean;
  /** Cancels a placed order; false when nothing was written. */
  cancel(orderId: string, by: { readonly runId?: string; readonly at: number }): boolean;
  insertEmail(email: {
    readonly orderId: string;
    readonly subject: string;
    readonly body: string;
    readonly runId: string;
    readonly at: number;
  }): string | undefined;
  /** Refunds that agents made on an order, in the order in which they happened. */
  agentRefunds(orderId: string): readonly AgentRefund[];
  /** How many e-mails a run has sent about an order. */
  emailsOfRun(orderId: string, runId: string): number;
  /** Orders on which an agent did something, in the order in which it happened. */
  changedByAgents(action: AgentAction): readonly string[];
  /** Moves the day on which the order was placed, for tests of the refund window. */
  placeDaysEarlier(orderId: string, days: number): void;
}

const ORDER_COLUMNS = `orders.id, customer_id, item, status, total_paise, placed_at, note,
  (SELECT coalesce(sum(amount_paise), 0) FROM refunds WHERE order_id = orders.id) AS refunded_paise`;

const CHANGED_BY_AGENTS: Readonly<Record<AgentAction, string>> = {
  issue_refund: "SELECT order_id FROM refunds WHERE origin = 'agent' ORDER BY id",
  cancel_order: "SELECT order_id FROM status_changes WHERE origin = 'agent' ORDER BY id",
  send_email: "SELECT order_id FROM outbox ORDER BY id",
};

/** Whole days since the order was placed, never negative. */
export function ageDays(order: Order, now: number): number {
  return Math.max(0, Math.floor((now - order.placedAt) / DAY_MS));
}

export function remainingPaise(order: Order): number {
  return order.totalPaise - order.refundedPaise;
}

/** The statements of the shop. Writes state their preconditions again, so no stale decision can pass them. */
export function createOrderTable(database: DatabaseSync): OrderTable {
  const byId = database.prepare(`SELECT ${ORDER_COLUMNS} FROM orders WHERE id = ?`);
  const customerById = database.prepare("SELECT 1 FROM customers WHERE id = ?");
  const emailByOrder = database.prepare(
    "SELECT email FROM customers JOIN orders ON orders.customer_id = customers.id WHERE orders.id = ?",
  );
  const refund = database.prepare(`INSERT INTO refunds (order_id, amount_paise, reason, origin, run_id, at)
    SELECT id, :amount, :reason, :origin, :run, :at FROM orders
    WHERE id = :order AND status <> 'cancelled'
      AND :amount <= total_paise - (SELECT coalesce(sum(amount_paise), 0) FROM refunds WHERE order_id = :order)`);
  const markCancelled = database.prepare("UPDATE orders SET status = 'cancelled' WHERE id = ? AND status = 'placed'");
  const logCancelled =
    database.prepare(`INSERT INTO status_changes (order_id, from_status, to_status, origin, run_id, at)
    VALUES (?, 'placed', 'cancelled', ?, ?, ?)`);
  const email = database.prepare(`INSERT INTO outbox (order_id, recipient, subject, body, run_id, at)
    SELECT orders.id, customers.email, ?, ?, ?, ? FROM orders JOIN customers ON customers.id = orders.customer_id
    WHERE orders.id = ? RETURNING recipient`);
  const refundsByAgents = database.prepare(
    "SELECT amount_paise, run_id, at FROM refunds WHERE order_id = ? AND origin = 'agent' ORDER BY id",
  );
  const emails = database.prepare("SELECT count(*) AS n FROM outbox WHERE order_id = ? AND run_id = ?");
  const age = database.prepare("UPDATE orders SET placed_at = placed_at - ? WHERE id = ?");
  return {
    order: (orderId) => toOrder(byId.get(orderId)),
    customerExists: (customerId) => customerById.get(customerId) !== undefined,
    emailOf: (orderId) => textOrNothing(emailByOrder.get(orderId)?.["email"]),
    search: (request) => search(database, request),
    insertRefund: ({ orderId, amountPaise, reason, runId, at }) =>
      refund.run({
        order: orderId,
        amount: amountPaise,
        reason: reason ?? null,
        origin: runId === undefined ? "staff" : "agent",
        run: runId ?? null,
        at,
      }).changes === 1,
    cancel: (orderId, { runId, at }) => {
      if (markCancelled.run(orderId).changes !== 1) {
        return false;
      }
      logCancelled.run(orderId, runId === undefined ? "staff" : "agent", runId ?? null, at);
      return true;
    },
    insertEmail: ({ orderId, subject, body, runId, at }) =>
      textOrNothing(email.get(subject, body, runId, at, orderId)?.["recipient"]),
    agentRefunds: (orderId) =>
      refundsByAgents.all(orderId).map((row) => ({
        amountPaise: Number(row["amount_paise"]),
        runId: String(row["run_id"]),
        at: Number(row["at"]),
      })),
    emailsOfRun: (orderId, runId) => Number(emails.get(orderId, runId)?.["n"]),
    changedByAgents: (action) =>
      database
        .prepare(CHANGED_BY_AGENTS[action])
        .all()
        .map((row) => String(row["order_id"])),
    placeDaysEarlier: (orderId, days) => {
      age.run(days * DAY_MS, orderId);
    },
  };
}

function search(database: DatabaseSync, { query, status, limit, customerId }: SearchRequest): readonly Order[] {
  const words = query.split(/\s+/).filter((word) => word !== "");
  const conditions = [
    ...words.map(() => "instr(lower(orders.id || ' ' || item), ?) > 0"),
    ...(status === undefined ? [] : ["status = ?"]),
    ...(customerId === undefined ? [] : ["customer_id = ?"]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const values = [
    ...words.map((word) => word.toLowerCase()),
    ...(status === undefined ? [] : [status]),
    ...(customerId === undefined ? [] : [customerId]),
  ];
  return database
    .prepare(`SELECT ${ORDER_COLUMNS} FROM orders ${where} ORDER BY placed_at DESC, orders.id LIMIT ?`)
    .all(...values, limit)
    .flatMap((row) => toOrder(row) ?? []);
}

type Row = ReturnType<ReturnType<DatabaseSync["prepare"]>["get"]>;

function toOrder(row: Row): Order | undefined {
  return (
    row && {
      id: String(row["id"]),
      customerId: String(row["customer_id"]),
      item: String(row["item"]),
      // The table's CHECK holds the four statuses.
      status: row["status"] as OrderStatus,
      totalPaise: Number(row["total_paise"]),
      refundedPaise: Number(row["refunded_paise"]),
      placedAt: Number(row["placed_at"]),
      note: String(row["note"]),
    }
  );
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
