import type { RequestedCall, ToolSpec } from "belay-harness";
import { fieldsOf } from "./history.ts";
import type { Task } from "./understand.ts";

/** What the description of a fitting tool says. It is all that the planner goes by; it knows no tool by name. */
const INTENT_PHRASES: Readonly<Record<Task["intent"], string>> = {
  search: "product",
  stock: "units in stock",
  order: "order status",
  restock: "restock request",
  policy: "policy documents",
};

/** The first tool whose description has the phrase of the task, called with what its schema asks for. */
export function callFor(task: Task, tools: readonly ToolSpec[]): RequestedCall | undefined {
  const phrase = INTENT_PHRASES[task.intent];
  const chosen = tools.find(({ description }) => description.toLowerCase().includes(phrase));
  if (chosen === undefined) {
    return undefined;
  }
  const known = valuesOf(task);
  const wanted = Object.keys(fieldsOf(fieldsOf(chosen.inputSchema)["properties"]));
  const args = Object.fromEntries(wanted.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])));
  return { tool: chosen.name, args: { json: args } };
}

/** What is known of a task, by the names under which tools ask for it. */
function valuesOf(task: Task): Readonly<Record<string, string | number | undefined>> {
  switch (task.intent) {
    case "search":
    case "policy":
      return { query: task.query };
    case "stock":
      return { sku: task.sku, query: `${task.sku} units in stock` };
    case "order":
      return { order_id: task.orderId, query: `${task.orderId} order status` };
    case "restock":
      return { sku: task.sku, quantity: task.quantity, priority: task.priority, query: `${task.sku} restock` };
  }
}
