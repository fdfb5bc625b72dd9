import type { ModelClient, ModelReply, ModelRequest } from "belay-harness";
import { answerTasks } from "./planner/answer.ts";
import { readConversation } from "./planner/history.ts";
import { understand } from "./planner/understand.ts";
import { changes, emails, lookups, openWishes, toCalls, type Wish } from "./planner/wishes.ts";
import { withoutOrderNumber } from "./planner/without-order.ts";

export const PLANNER_ID = "offline-shop-planner-v1";

/** Calls in one reply, and orders in one message; more are left for another message. */
const CALLS_MAX = 8;
const CHARACTERS_PER_TOKEN = 4;

/**
 * A model that works without a key: plain rules that understand ordinary English about orders.
 *
 * It plans from the customer's message and the tools' results alone, keeps nothing between requests, and takes results
 * as data: what a note on an order asks for is never done. It decides no rule of the shop; it asks and reports.
 */
export function shopPlanner(): ModelClient {
  return {
    id: PLANNER_ID,
    generate: async (request) => {
      const reply = plan(request);
      return { ...reply, usage: usageOf(request, reply) };
    },
  };
}

function plan(request: ModelRequest): ModelReply {
  const { message, attempts } = readConversation(request.messages);
  const understood = understand(message);
  const tasks = understood.tasks.slice(0, CALLS_MAX);
  const offered = new Set(request.tools.map(({ name }) => name));
  const next = (wishes: readonly Wish[]) => openWishes(wishes, attempts).filter(({ tool }) => offered.has(tool));
  if (tasks.length === 0) {
    const move = withoutOrderNumber(message, understood.withoutOrder[0], attempts);
    if ("text" in move) {
      return { kind: "final", text: move.text };
    }
    const wishes = move.wishes.filter(({ tool }) => offered.has(tool));
    return wishes.length > 0 ? calls(wishes) : { kind: "final", text: "I can't search for orders here." };
  }
  // Look first, then change, then write about it: each stage waits for the one before.
  for (const stage of [lookups(tasks), changes(tasks, attempts), emails(tasks, attempts)]) {
    const wishes = next(stage);
    if (wishes.length > 0) {
      return calls(wishes);
    }
  }
  const left = understood.tasks.length - tasks.length;
  const more = left > 0 ? ` Please ask about the other ${left} in another message.` : "";
  return { kind: "final", text: answerTasks({ ...understood, tasks }, attempts, message) + more };
}

function calls(wishes: readonly Wish[]): ModelReply {
  return { kind: "calls", text: "", calls: toCalls(wishes) };
}

function usageOf(request: ModelRequest, reply: ModelReply) {
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
  return { inputTokens: tokens([request.system, request.messages]), outputTokens: tokens(reply) };
}
