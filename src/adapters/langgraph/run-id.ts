import { createHash } from "node:crypto";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { newId } from "../../ids.ts";

/**
 * The run of one visit to a node: the same each time the graph runs the node again, another one for every other visit.
 *
 * Without a thread nothing of the graph survives, so there is nothing to come back to.
 */
export function runIdOf(config: LangGraphRunnableConfig, ...visit: readonly string[]): string {
  const thread: unknown = config.configurable?.["thread_id"];
  if (typeof thread !== "string" && typeof thread !== "number") return newId("run", Date.now());
  const name = JSON.stringify([String(thread), ...visit]);
  return `graph_${createHash("sha256").update(name).digest("hex").slice(0, 40)}`;
}
