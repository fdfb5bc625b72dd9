import { estimateTokens, type ModelClient, type ModelReply, type ModelRequest } from "belay-harness";
import { estimatePromptTokens } from "belay-harness/model";
import { describe, isAtReorderPoint } from "./planner/answer.ts";
import { callFor } from "./planner/choose-tool.ts";
import { type Attempt, readConversation } from "./planner/history.ts";
import { findInjected, type Injected } from "./planner/injected.ts";
import { type Task, type Understood, understand } from "./planner/understand.ts";
import type { Weakness } from "./weaknesses.ts";

export const PLANNER_ID = "fake.stockroom-planner-v1";

const LEAKED_CHARACTERS = 120;

export interface PlannerOptions {
  readonly weaknesses?: readonly Weakness[];
}

/**
 * A deterministic stand-in for a model that fails as models do.
 *
 * It goes by tool descriptions alone, follows orders that it finds in results, and with `naive_retry` repeats a failed
 * call unchanged for as long as it is let. It keeps nothing between requests.
 */
export function stockroomPlanner({ weaknesses = [] }: PlannerOptions = {}): ModelClient {
  const isNaive = weaknesses.includes("naive_retry");
  return {
    id: PLANNER_ID,
    generate: async (request) => {
      const reply = plan(request, isNaive);
      return {
        ...reply,
        usage: { inputTokens: estimatePromptTokens(request), outputTokens: estimateTokens(wordsOf(reply)) },
      };
    },
  };
}

function plan(request: ModelRequest, isNaive: boolean): ModelReply {
  const { message, attempts } = readConversation(request.messages);
  const last = attempts.at(-1);
  if (isNaive && last?.isError && last.data["error"] === "transient") {
    return call({ tool: last.tool, args: { json: last.args } });
  }
  const injected = findInjected(attempts, request.tools);
  if (injected?.call !== undefined && !attempts.some((attempt) => isInjectedCall(attempt, injected))) {
    return call(injected.call);
  }
  const own = withoutRepeats(
    attempts.filter((attempt) => injected === undefined || !isInjectedCall(attempt, injected)),
  );
  const understood = understand(message);
  const next = understood.kind === "tasks" ? nextCall(understood.tasks, own, request) : undefined;
  if (next !== undefined) {
    return call(next);
  }
  const text = answerOf(understood, own);
  return { kind: "final", text: injected === undefined ? text : leak(injected, text, request.system) };
}

/** Tasks are taken in order, one call each; a conditional one only when its condition was seen to hold. */
function nextCall(tasks: readonly Task[], own: readonly Attempt[], request: ModelRequest) {
  const task = tasks[own.length];
  if (task === undefined || (task.intent === "restock" && task.isConditional && !conditionHolds(own))) {
    return undefined;
  }
  return callFor(task, request.tools);
}

function conditionHolds(own: readonly Attempt[]): boolean {
  const last = own.at(-1);
  return last !== undefined && isAtReorderPoint(last.data) === true;
}

function answerOf(understood: Understood, own: readonly Attempt[]): string {
  switch (understood.kind) {
    case "outside":
      return "I can't help with that. I answer questions about products, stock, orders, restock requests and policies.";
    case "unclear":
      return understood.question;
    case "tasks":
      return own.length === 0
        ? "I can't do that: none of my tools fits."
        : own.map((attempt, index) => describe(attempt, understood.tasks[index])).join(" ");
  }
}

function leak({ wantsSystemPrompt }: Injected, text: string, system: string): string {
  return wantsSystemPrompt ? `As asked, my system prompt is: ${system.slice(0, LEAKED_CHARACTERS)}… ${text}` : text;
}

function isInjectedCall(attempt: Attempt, { call: injected }: Injected): boolean {
  return injected !== undefined && attempt.tool === injected.tool && textOfArgs(attempt) === sortedText(injected.args);
}

function textOfArgs({ args }: Attempt): string {
  return sortedText({ json: args });
}

function sortedText(args: object): string {
  const value = "json" in args && typeof args.json === "object" && args.json !== null ? args.json : {};
  return JSON.stringify(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** A call that was sent again counts once, with its last result. */
function withoutRepeats(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.filter((attempt, index) => {
    const next = attempts[index + 1];
    return next === undefined || next.tool !== attempt.tool || textOfArgs(next) !== textOfArgs(attempt);
  });
}

function call(requested: Extract<ModelReply, { kind: "calls" }>["calls"][number]): ModelReply {
  return { kind: "calls", text: "", calls: [requested] };
}

function wordsOf(reply: ModelReply): string {
  switch (reply.kind) {
    case "final":
      return reply.text;
    case "unreadable":
      return reply.problem;
    case "calls":
      return reply.calls
        .map(({ tool, args }) => tool + JSON.stringify("json" in args ? args.json : args.text))
        .join("");
  }
}
