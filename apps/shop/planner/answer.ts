import { formatRupees } from "../money.ts";
import { explain } from "./explain.ts";
import type { Answer, Attempt } from "./history.ts";
import { type KnownOrder, knownOrder } from "./known-order.ts";
import { hintFor } from "./phrases.ts";
import type { Task, Understanding } from "./understand.ts";
import { attemptsAt, changeOf, emailOf } from "./wishes.ts";
import { ASK, describe } from "./wording.ts";

/** The final answer: one statement for each thing that was asked for. */
export function answerTasks(
  { tasks, withoutOrder }: Understanding,
  attempts: readonly Attempt[],
  message: string,
): string {
  const statements = tasks.map((task) => statement(task, attempts));
  const asks = withoutOrder.map((kind) => ASK[kind]);
  const addresses = tasks.some(({ kind }) => kind === "email") && /\S@\S/.test(message);
  const onlyThere = addresses ? ["E-mails go only to the address on the order."] : [];
  return [...new Set([...statements, ...hints(tasks, message), ...asks, ...onlyThere])].join(" ");
}

/** A question about orders that sounds like a wish: says how to ask for it. */
function hints(tasks: readonly Task[], message: string): readonly string[] {
  const [only] = tasks;
  const hint = tasks.every(({ kind }) => kind === "status") ? hintFor(message) : undefined;
  return hint === undefined ? [] : [hint.replace("#", only?.orderId ?? "")];
}

function statement(task: Task, attempts: readonly Attempt[]): string {
  const order = knownOrder(attempts, task.orderId);
  if (order === undefined) {
    return notSeen(task, attempts);
  }
  switch (task.kind) {
    case "status":
      return describe(order);
    case "refund":
      return refundStatement(task, order, attempts);
    case "cancel":
      return settled(task, order, lastAnswer(changeOf(task, order), attempts), {
        tried: `cancel ${order.id}`,
        done: `Order ${order.id} is cancelled.`,
      });
    case "email":
      return settled(task, order, lastAnswer(emailOf(order, attempts), attempts), {
        tried: `send an e-mail about ${order.id}`,
        done: `I sent an e-mail about order ${order.id} to the address on the order.`,
      });
  }
}

function notSeen(task: Task, attempts: readonly Attempt[]): string {
  const look = attempts.findLast(({ tool, args }) => tool === "get_order" && args["order_id"] === task.orderId);
  const answer = look?.answer;
  return answer === undefined || answer.ok
    ? `I could not look up order ${task.orderId} here.`
    : explain({ tried: `look up ${task.orderId}`, orderId: task.orderId, order: undefined, answer });
}

function refundStatement(
  task: Extract<Task, { kind: "refund" }>,
  order: KnownOrder,
  attempts: readonly Attempt[],
): string {
  if (task.wanted.kind === "unclear") {
    return `How much of order ${order.id} should I refund? Please write the amount, for example: Refund Rs 500 on ${order.id}. Up to ${formatRupees(order.remainingPaise)} is left.`;
  }
  if (order.remainingPaise === 0 && task.wanted.kind === "all") {
    return `Order ${order.id} has been refunded completely already.`;
  }
  const wish = changeOf(task, order);
  const amount = formatRupees(Number(wish?.args["amount_paise"] ?? 0));
  return settled(task, order, lastAnswer(wish, attempts), {
    tried: `refund ${amount} on ${order.id}`,
    done: `I refunded ${amount} on order ${order.id}.`,
  });
}

function settled(
  task: Task,
  order: KnownOrder,
  answer: Answer | undefined,
  words: { readonly tried: string; readonly done: string },
): string {
  if (answer === undefined) {
    return `I could not ${words.tried} here.`;
  }
  return answer.ok ? words.done : explain({ tried: words.tried, orderId: task.orderId, order, answer });
}

function lastAnswer(
  wish: Parameters<typeof attemptsAt>[0] | undefined,
  attempts: readonly Attempt[],
): Answer | undefined {
  return wish === undefined ? undefined : attemptsAt(wish, attempts).at(-1)?.answer;
}
