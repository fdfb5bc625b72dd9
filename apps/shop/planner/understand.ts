import { clausesOf } from "../language/clauses.ts";
import { findOrderIds } from "../language/order-ids.ts";
import { type OrderRequest, readRequests, type Wanted } from "../language/requests.ts";
import { asksForEmail, isListOfOrders } from "./phrases.ts";

export type ActionKind = "refund" | "cancel" | "email";

export type Task =
  | { readonly kind: "refund"; readonly orderId: string; readonly wanted: Wanted }
  | { readonly kind: "cancel" | "email" | "status"; readonly orderId: string };

/** What a message asks for, as far as plain rules can tell. */
export interface Understanding {
  readonly tasks: readonly Task[];
  /** Actions that were asked for without saying on which order. */
  readonly withoutOrder: readonly ActionKind[];
}

/**
 * Reads a customer's message: which orders, and what is to be done with each.
 *
 * Refunds and cancellations are those that the shop's rules find in the message, so nothing is tried that they refuse.
 */
export function understand(message: string): Understanding {
  const { orders, withoutOrder, named } = readRequests(message);
  const emails = emailsIn(message);
  const tasks = new Map<string, Task>();
  for (const request of orders) {
    tasks.set(`${request.kind} ${request.orderId}`, taskOf(request, orders));
  }
  for (const orderId of emails.orders) {
    tasks.set(`email ${orderId}`, { kind: "email", orderId });
  }
  const touched = new Set([...tasks.values()].map(({ orderId }) => orderId));
  for (const orderId of named) {
    if (!touched.has(orderId)) {
      tasks.set(`status ${orderId}`, { kind: "status", orderId });
    }
  }
  const open: readonly ActionKind[] = [...withoutOrder, ...(emails.isOpen ? (["email"] as const) : [])];
  return { tasks: [...tasks.values()], withoutOrder: isListOfOrders(message) ? [] : [...new Set(open)] };
}

function taskOf({ kind, orderId }: OrderRequest, requests: readonly OrderRequest[]): Task {
  if (kind === "cancel") {
    return { kind, orderId };
  }
  const wishes = requests.filter((one) => one.kind === "refund" && one.orderId === orderId);
  const sums = new Set(wishes.flatMap(({ wanted }) => (wanted.kind === "stated" ? [wanted.paise] : [])));
  const [paise] = sums;
  if (sums.size > 1 || wishes.some(({ wanted }) => wanted.kind === "unclear")) {
    return { kind, orderId, wanted: { kind: "unclear" } };
  }
  return { kind, orderId, wanted: paise === undefined ? { kind: "all" } : { kind: "stated", paise } };
}

/** Orders that the customer wants an e-mail about: those of the clause, else those named last, else the next ones. */
function emailsIn(message: string): { readonly orders: readonly string[]; readonly isOpen: boolean } {
  const orders: string[] = [];
  let named: readonly string[] = [];
  let isOpen = false;
  for (const clause of clausesOf(message)) {
    const own = findOrderIds(clause.text)
      .filter(({ start }) => !isLeftOut(clause.text.slice(0, start)))
      .map(({ orderId }) => orderId);
    named = own.length > 0 ? own : named;
    if (isOpen || asksForEmail(clause.text)) {
      orders.push(...named);
      isOpen = named.length === 0;
    }
  }
  return { orders, isOpen };
}

/** "everything except O-1003" and "not O-1003" name an order to leave alone. */
function isLeftOut(before: string): boolean {
  return /\b(?:not|except|excluding|keep|leave|other than|instead of|rather than)(?: my| the)?(?: order)? $/i.test(
    before,
  );
}
