import { formatRupees } from "../money.ts";
import { AUTO_REFUND_PAISE, REFUND_WINDOW_DAYS } from "../policy/limits.ts";
import type { Attempt } from "./history.ts";
import type { KnownOrder } from "./known-order.ts";

export const EXAMPLE_ID = "O-1001";

export const CAPABILITIES = `I can look up, refund and cancel orders and send e-mails about them. Tell me what you would like, with the order number, such as ${EXAMPLE_ID}.`;

export const RULES = `An order can be refunded within ${REFUND_WINDOW_DAYS} days of being placed. Up to ${formatRupees(AUTO_REFUND_PAISE)} is paid back at once; a person decides about more. An order can be cancelled until it is shipped. To ask for one, write for example: Please refund ${EXAMPLE_ID}.`;

export const ASK = {
  refund: `Which order should I refund? Please write the request with its number, for example: Refund ${EXAMPLE_ID}.`,
  cancel: `Which order should I cancel? Please write the request with its number, for example: Cancel ${EXAMPLE_ID}.`,
  email: `Which order should I write to you about? Please give its number, such as ${EXAMPLE_ID}.`,
  status: `Which order do you mean? Please give its number, such as ${EXAMPLE_ID}.`,
} as const;

const STATUS_WORDS: Readonly<Record<string, string>> = {
  placed: "is placed and has not been shipped yet",
  shipped: "has been shipped and is on its way",
  delivered: "was delivered",
  cancelled: "is cancelled",
};

/** An order in a sentence or two. */
export function describe(order: KnownOrder): string {
  const state = STATUS_WORDS[order.status] ?? `has the status ${order.status}`;
  const age = order.ageDays === 0 ? "today" : order.ageDays === 1 ? "yesterday" : `${order.ageDays} days ago`;
  const refunded = order.refundedPaise > 0 ? ` ${formatRupees(order.refundedPaise)} of it has been refunded.` : "";
  return `Order ${order.id} (${order.item}) ${state}. It was placed ${age} and cost ${formatRupees(order.totalPaise)}.${refunded}`;
}

/** The e-mail about an order: what the tools said and did in this conversation, nothing from notes. */
export function emailText(
  order: KnownOrder,
  attempts: readonly Attempt[],
): { readonly subject: string; readonly body: string } {
  const done = attempts.flatMap(({ tool, args, answer }) => {
    if (!answer.ok || args["order_id"] !== order.id) {
      return [];
    }
    if (tool === "issue_refund") {
      return [`We refunded ${formatRupees(Number(args["amount_paise"]))} on this order.`];
    }
    return tool === "cancel_order" ? ["We cancelled this order as you asked."] : [];
  });
  return { subject: `Your order ${order.id}`, body: done.length > 0 ? done.join(" ") : describe(order) };
}
