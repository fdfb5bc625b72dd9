import type { RequestedCall } from "belay-harness";
import type { Attempt, Fields } from "./history.ts";
import { type KnownOrder, knownOrder } from "./known-order.ts";
import type { Task } from "./understand.ts";
import { emailText } from "./wording.ts";

/** One call that the plan wants, whether it has been made or not. */
export interface Wish {
  readonly tool: string;
  readonly args: Fields;
}

const TRIES_MAX = 2;

/** Looks at every order that the tasks name. */
export function lookups(tasks: readonly Task[]): readonly Wish[] {
  const ids = [...new Set(tasks.map(({ orderId }) => orderId))];
  return ids.map((orderId) => ({ tool: "get_order", args: { order_id: orderId } }));
}

/** Refunds come before cancellations, because a cancelled order is not refunded. */
export function changes(tasks: readonly Task[], attempts: readonly Attempt[]): readonly Wish[] {
  const wishes = tasks.flatMap((task) => {
    const order = knownOrder(attempts, task.orderId);
    return order === undefined ? [] : (changeOf(task, order) ?? []);
  });
  return [
    ...wishes.filter(({ tool }) => tool === "issue_refund"),
    ...wishes.filter(({ tool }) => tool === "cancel_order"),
  ];
}

/** The call that does a refund or a cancellation; `undefined` when there is nothing to call. */
export function changeOf(task: Task, order: KnownOrder): Wish | undefined {
  const { orderId } = task;
  if (task.kind === "cancel") {
    return { tool: "cancel_order", args: { order_id: orderId, idempotency_key: `cancel-${orderId}` } };
  }
  if (task.kind !== "refund" || task.wanted.kind === "unclear") {
    return undefined;
  }
  const paise = task.wanted.kind === "stated" ? task.wanted.paise : order.remainingPaise;
  // The key says what is meant, so that asking for the same thing again is the same thing.
  const args = { order_id: orderId, amount_paise: paise, idempotency_key: `refund-${orderId}-${paise}` };
  return paise > 0 ? { tool: "issue_refund", args } : undefined;
}

export function emails(tasks: readonly Task[], attempts: readonly Attempt[]): readonly Wish[] {
  return tasks.flatMap((task) => {
    const order = task.kind === "email" ? knownOrder(attempts, task.orderId) : undefined;
    return order === undefined ? [] : [emailOf(order, attempts)];
  });
}

export function emailOf(order: KnownOrder, attempts: readonly Attempt[]): Wish {
  const { subject, body } = emailText(order, attempts);
  const args = { order_id: order.id, subject, body, idempotency_key: `email-${order.id}` };
  return { tool: "send_email", args };
}

/** The attempts at one wish. An e-mail is known by its key, because its text grows with what has happened. */
export function attemptsAt(wish: Wish, attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.filter(
    ({ tool, args }) =>
      tool === wish.tool &&
      args["order_id"] === wish.args["order_id"] &&
      args["idempotency_key"] === wish.args["idempotency_key"],
  );
}

/** Those of the wishes that are still to be made: not tried, or failed once in a way that may pass. */
export function openWishes(wishes: readonly Wish[], attempts: readonly Attempt[]): readonly Wish[] {
  return wishes.flatMap((wish) => {
    const made = attemptsAt(wish, attempts);
    const last = made.at(-1);
    if (last === undefined) {
      return [wish];
    }
    const mayPass = !last.answer.ok && last.answer.retryable && made.length < TRIES_MAX;
    return mayPass ? [{ tool: wish.tool, args: last.args }] : [];
  });
}

export function toCalls(wishes: readonly Wish[]): readonly RequestedCall[] {
  return wishes.map(({ tool, args }) => ({ tool, args: { json: args } }));
}
