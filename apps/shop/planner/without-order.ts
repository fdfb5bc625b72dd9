import { type Attempt, fieldsOf } from "./history.ts";
import { knownOrder } from "./known-order.ts";
import { isListOfOrders, itemWords, looseOrderNumber, smallTalk, speaksOfAnOrder, statusWord } from "./phrases.ts";
import type { ActionKind } from "./understand.ts";
import { openWishes, type Wish } from "./wishes.ts";
import { ASK, CAPABILITIES, describe, EXAMPLE_ID, RULES } from "./wording.ts";

interface Found {
  readonly orderId: string;
  readonly item: string;
  readonly status: string;
}

export type Move = { readonly wishes: readonly Wish[] } | { readonly text: string };

/** What to do with a message that names no order: search where it describes one, else ask or explain. */
export function withoutOrderNumber(
  message: string,
  wanted: ActionKind | undefined,
  attempts: readonly Attempt[],
): Move {
  const loose = looseOrderNumber(message);
  if (loose !== undefined) {
    return { text: `Please write the request again with the order number in full, as O-${loose}.` };
  }
  const wish = searchFor(message, wanted);
  if (wish === undefined) {
    return { text: questionOrTalk(message, wanted) };
  }
  const open = openWishes([wish], attempts);
  if (open.length > 0) {
    return { wishes: open };
  }
  const found = foundOrders(attempts);
  const [only] = found;
  if (wanted === undefined && only !== undefined && found.length === 1) {
    const order = knownOrder(attempts, only.orderId);
    const look = openWishes([{ tool: "get_order", args: { order_id: only.orderId } }], attempts);
    return order !== undefined ? { text: describe(order) } : look.length > 0 ? { wishes: look } : { text: ASK.status };
  }
  return { text: found.length === 0 ? `I found no such order. ${ASK[wanted ?? "status"]}` : choices(found, wanted) };
}

function searchFor(message: string, wanted: ActionKind | undefined): Wish | undefined {
  const status = statusWord(message);
  if (isListOfOrders(message)) {
    return { tool: "search_orders", args: { query: "", ...(status && { status }) } };
  }
  const words =
    wanted !== undefined || speaksOfAnOrder(message) || /\bwhere\b/i.test(message) ? itemWords(message) : [];
  return words.length === 0 ? undefined : { tool: "search_orders", args: { query: words.join(" ") } };
}

function questionOrTalk(message: string, wanted: ActionKind | undefined): string {
  if (wanted !== undefined) {
    return ASK[wanted];
  }
  switch (smallTalk(message)) {
    case "rules":
      return RULES;
    case "thanks":
      return "You are welcome.";
    case "greeting":
      return `Hello. ${CAPABILITIES}`;
    case "other":
      return speaksOfAnOrder(message) ? ASK.status : `I can help with orders only. ${CAPABILITIES}`;
  }
}

function foundOrders(attempts: readonly Attempt[]): readonly Found[] {
  const answer = attempts.findLast(({ tool }) => tool === "search_orders")?.answer;
  const orders = answer?.ok === true ? answer.data["orders"] : undefined;
  return Array.isArray(orders)
    ? orders.map((row) => {
        const fields = fieldsOf(row);
        return { orderId: String(fields["order_id"]), item: String(fields["item"]), status: String(fields["status"]) };
      })
    : [];
}

function choices(found: readonly Found[], wanted: ActionKind | undefined): string {
  const list = found.map(({ orderId, item, status }) => `${orderId} (${item}, ${status})`).join(", ");
  const example = found[0]?.orderId ?? EXAMPLE_ID;
  switch (wanted) {
    case "refund":
      return `I found ${list}. To refund one, please write its number, for example: Refund ${example}.`;
    case "cancel":
      return `I found ${list}. To cancel one, please write its number, for example: Cancel ${example}.`;
    case "email":
      return `I found ${list}. About which one should I write to you? Please name it, for example: E-mail me about ${example}.`;
    case undefined:
      return `I found ${list}.`;
  }
}
