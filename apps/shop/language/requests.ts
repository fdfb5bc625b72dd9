import type { RequestKind } from "./grammar.ts";
import { type Reading, type ReadRequest, readMessage, type Segment } from "./reading.ts";

export type { RequestKind } from "./grammar.ts";

/** How much to refund. `unclear`: the customer means a part and does not say how much. */
export type Wanted =
  | { readonly kind: "all" }
  | { readonly kind: "stated"; readonly paise: number }
  | { readonly kind: "unclear" };

/** What the customer asks to be done with one order. */
export interface OrderRequest {
  readonly kind: RequestKind;
  readonly orderId: string;
  /** Of a refund; `all` for a cancellation. */
  readonly wanted: Wanted;
}

export interface Requests {
  readonly orders: readonly OrderRequest[];
  /** Asked for without saying on which order, and of the message's orders none is meant for sure. */
  readonly withoutOrder: readonly RequestKind[];
  /** Every order that the message names. */
  readonly named: ReadonlySet<string>;
}

/**
 * What a customer asks for in their own message, order by order.
 *
 * Plain rules, no model. In doubt nothing is asked for. A request is about the orders of its own clause, else about the
 * one order of the message, else about the one order of its sentence.
 */
export function readRequests(message: string): Requests {
  // Several rules read the same message one after another; what is asked for depends on nothing else.
  if (last?.message !== message) last = { message, requests: read(message) };
  return last.requests;
}

let last: { readonly message: string; readonly requests: Requests } | undefined;

function read(message: string): Requests {
  const reading = readMessage(message);
  const named = new Set(reading.mentions.orders.map(({ orderId }) => orderId));
  const bound = reading.requests.map((request) => ({ request, orders: bind(request, reading, named) }));
  const isRefused = (kind: RequestKind, orderId: string): boolean =>
    reading.refused.some((refusal) => refusal.kind === kind && refusal.orderId === orderId);
  return {
    orders: bound.flatMap(({ orders }) => orders).filter(({ kind, orderId }) => !isRefused(kind, orderId)),
    withoutOrder: bound.filter(({ orders }) => orders.length === 0).map(({ request }) => request.kind),
    named,
  };
}

/**
 * True when the customer asks for it: for this order, or, when the message does not mention this order at all, for any.
 *
 * That a message must name the order is the business of another rule, which must be testable on its own.
 */
export function isAskedFor({ orders, withoutOrder, named }: Requests, kind: RequestKind, orderId: string): boolean {
  return named.has(orderId)
    ? orders.some((request) => request.kind === kind && request.orderId === orderId)
    : orders.some((request) => request.kind === kind) || withoutOrder.includes(kind);
}

/** What the customer wants back on an order, once for each time that they ask. */
export function refundsWanted({ orders, named }: Requests, orderId: string): readonly Wanted[] {
  return orders
    .filter((request) => request.kind === "refund" && (request.orderId === orderId || !named.has(orderId)))
    .map(({ wanted }) => wanted);
}

function bind(request: ReadRequest, reading: Reading, named: ReadonlySet<string>): readonly OrderRequest[] {
  const { kind, segments } = request;
  if (segments.every(({ orders }) => orders.length === 0)) {
    const orderId = orderMeant(request, reading, named);
    const amounts = segments.flatMap((segment) => segment.amounts);
    return orderId === undefined ? [] : [{ kind, orderId, wanted: wantedOf(request, amounts) }];
  }
  return segments.flatMap((segment, index) =>
    segment.orders.map((orderId, place) => ({ kind, orderId, wanted: wantedIn(request, segment, index, place) })),
  );
}

function orderMeant(request: ReadRequest, reading: Reading, named: ReadonlySet<string>): string | undefined {
  if (named.size === 1) {
    return [...named][0];
  }
  const sentence = reading.clauses.filter((clause) => clause.sentence === request.sentence);
  const orders = new Set(
    reading.mentions.orders
      .filter(({ start }) => sentence.some((clause) => start >= clause.start && start < clause.end))
      .map(({ orderId }) => orderId),
  );
  return orders.size === 1 ? [...orders][0] : undefined;
}

/** The amount for one of the orders of a request with several clauses. */
function wantedIn(request: ReadRequest, segment: Segment, index: number, place: number): Wanted {
  const { segments } = request;
  const orders = segments.flatMap((one) => one.orders);
  const amounts = segments.flatMap((one) => one.amounts);
  if (new Set(orders).size === 1) {
    return wantedOf(request, amounts);
  }
  if (segments.some(({ hasEach }) => hasEach)) {
    return amounts.length === 1 ? wantedOf(request, amounts) : UNCLEAR;
  }
  if (amounts.length === 0) {
    return wantedOf(request, []);
  }
  if (segments.some((one) => one.orders.length === 0)) {
    return UNCLEAR;
  }
  const own = segment.amounts;
  // "refund Rs 500 on O-1001 and O-1008" does not say how much on the second.
  const isFirst = index === 0 || own.length > 0;
  return segment.orders.length === 1 && own.length === 1 && isFirst
    ? wantedOf(request, own)
    : own.length === segment.orders.length
      ? wantedOf(request, own.slice(place, place + 1))
      : UNCLEAR;
}

const UNCLEAR: Wanted = { kind: "unclear" };

function wantedOf({ isPart }: ReadRequest, amounts: readonly number[]): Wanted {
  const [paise, ...more] = amounts;
  if (paise !== undefined) {
    return more.length === 0 ? { kind: "stated", paise } : UNCLEAR;
  }
  return isPart ? UNCLEAR : { kind: "all" };
}
