import { findAmounts } from "../language/amounts.ts";
import { findOrderIds } from "../language/order-ids.ts";
import { type RequestClause, requestClauses } from "../language/requests.ts";
import { asksForEmail, isListOfOrders, paidAmount } from "./phrases.ts";

export type ActionKind = "refund" | "cancel" | "email";

/** How much to refund. `unclear`: the customer means a part and does not say how much. */
type Wanted =
  | { readonly kind: "all" }
  | { readonly kind: "stated"; readonly paise: number }
  | { readonly kind: "unclear" };

export type Task =
  | { readonly kind: "refund"; readonly orderId: string; readonly wanted: Wanted }
  | { readonly kind: "cancel" | "email" | "status"; readonly orderId: string };

/** What a message asks for, as far as plain rules can tell. */
export interface Understanding {
  readonly tasks: readonly Task[];
  /** Actions that were asked for without saying on which order. */
  readonly withoutOrder: readonly ActionKind[];
}

interface Action {
  readonly kind: ActionKind;
  readonly orders: string[];
  readonly amounts: number[];
  readonly sharesAmount: boolean;
}

interface Piece {
  readonly clause: RequestClause;
  readonly kinds: readonly ActionKind[];
  readonly orders: readonly string[];
  readonly amounts: readonly number[];
}

/**
 * Reads a customer's message: which orders, and what is to be done with each.
 *
 * An action belongs to the orders of its own clause, else to those named last before it, else to the next ones named.
 */
export function understand(message: string): Understanding {
  const actions: Action[] = [];
  let named: readonly string[] = [];
  let previous: readonly Action[] = [];
  for (const piece of piecesOf(message)) {
    if (piece.kinds.length > 0) {
      previous = piece.kinds.map((kind) => newAction(kind, piece, named));
      actions.push(...previous);
    } else if (!continueActions(piece, actions, previous)) {
      previous = [];
    } else {
      actions.push(...previous.flatMap((action) => listedToo(action, piece)));
    }
    named = piece.orders.length > 0 ? piece.orders : named;
  }
  return toTasks(message, actions);
}

function piecesOf(message: string): readonly Piece[] {
  const orders = findOrderIds(message).filter(({ start }) => !isLeftOut(message.slice(0, start)));
  const amounts = findAmounts(message).filter(({ start }) => !paidAmount(message.slice(0, start)));
  return requestClauses(message).map((clause) => {
    const isInside = ({ start }: { readonly start: number }) => start >= clause.start && start < clause.end;
    return {
      clause,
      kinds: [...clause.asks, ...(asksForEmail(clause.text) ? (["email"] as const) : [])],
      orders: orders.filter(isInside).map(({ orderId }) => orderId),
      amounts: amounts.filter(isInside).map(({ paise }) => paise),
    };
  });
}

/** "everything except O-1003" and "not O-1003" name an order to leave alone. */
function isLeftOut(before: string): boolean {
  return /\b(?:not|except|excluding|keep|leave|other than|instead of|rather than)(?: my| the)?(?: order)? $/i.test(
    before,
  );
}

function newAction(kind: ActionKind, piece: Piece, named: readonly string[]): Action {
  const orders = piece.orders.length > 0 ? piece.orders : named;
  return { kind, orders: [...orders], amounts: [...piece.amounts], sharesAmount: /\beach\b/i.test(piece.clause.text) };
}

/** Gives a clause without a verb of its own to the action before it; false when it is about something else. */
function continueActions(piece: Piece, actions: readonly Action[], previous: readonly Action[]): boolean {
  const open = actions.filter((action) => action.orders.length === 0);
  if (piece.orders.length > 0 && open.length > 0) {
    for (const action of open) {
      action.orders.push(...piece.orders);
      action.amounts.push(...piece.amounts);
    }
    return false;
  }
  if (piece.orders.length > 0) {
    return previous.length > 0 && isOnlyAList(piece.clause);
  }
  const refund = previous.find(({ kind, amounts }) => kind === "refund" && amounts.length === 0);
  refund?.amounts.push(...piece.amounts);
  return false;
}

/** "Refund O-1001 and O-1008": the second clause holds nothing but a number, so the verb of the first is meant. */
function isOnlyAList({ text, join }: RequestClause): boolean {
  const rest = text
    .replaceAll(/\bO-[0-9]{4}\b/gi, "")
    .replaceAll(/(?:\bRs\.?|₹|\bINR)?\s*[0-9][0-9,.]*(?:\s*rupees?)?/gi, "")
    .replaceAll(/\b(?:orders?|number|for|of|on|the|my|please|too|as well|also|both|each|only|just)\b/gi, "");
  return (join === "and" || join === "comma") && /^[\s.:&()-]*$/.test(rest);
}

function listedToo(action: Action, piece: Piece): readonly Action[] {
  // "refund Rs 500 on O-1001 and O-1008" does not say how much on the second.
  const amounts = piece.amounts.length > 0 ? piece.amounts : action.amounts.map(() => Number.NaN);
  const isShared = action.sharesAmount || /\beach\b/i.test(piece.clause.text);
  return [
    {
      kind: action.kind,
      orders: [...piece.orders],
      amounts: isShared && piece.amounts.length === 0 ? [...action.amounts] : [...amounts],
      sharesAmount: isShared,
    },
  ];
}

function toTasks(message: string, actions: readonly Action[]): Understanding {
  const tasks = new Map<string, Task>();
  for (const action of actions) {
    for (const [index, orderId] of action.orders.entries()) {
      const task: Task =
        action.kind === "refund"
          ? { kind: "refund", orderId, wanted: wantedOf(message, action, index) }
          : { kind: action.kind, orderId };
      tasks.set(`${task.kind} ${orderId}`, task);
    }
  }
  const touched = new Set([...tasks.values()].map(({ orderId }) => orderId));
  for (const { orderId } of findOrderIds(message)) {
    if (!touched.has(orderId)) {
      tasks.set(`status ${orderId}`, { kind: "status", orderId });
    }
  }
  const open = actions.filter(({ orders }) => orders.length === 0).map(({ kind }) => kind);
  return { tasks: [...tasks.values()], withoutOrder: isListOfOrders(message) ? [] : [...new Set(open)] };
}

function wantedOf(message: string, action: Action, index: number): Wanted {
  const { amounts, orders, sharesAmount } = action;
  const own = amounts.length === 1 && (orders.length === 1 || sharesAmount) ? amounts[0] : undefined;
  const paired = amounts.length === orders.length ? amounts[index] : undefined;
  const paise = own ?? paired;
  if (paise !== undefined) {
    return Number.isNaN(paise) ? { kind: "unclear" } : { kind: "stated", paise };
  }
  const isPart = /\b(?:part|partial|partially|half|portion|some of|quarter|percent)\b|%/i.test(message);
  const isUnread = /₹|\b(?:rs|inr|rupees?)\b/i.test(message) && findAmounts(message).length === 0;
  return amounts.length > 0 || isPart || isUnread ? { kind: "unclear" } : { kind: "all" };
}
