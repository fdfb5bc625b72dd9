import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Agent, defineAgent, defineTool, type ModelClient } from "../../../../src/index.ts";

/** What a run is told to do: `pay <order> <parts> <cents>`. More than 1,000 cents ask a person. */
export function payInput(order: string, parts: number, cents: number): string {
  return `pay ${order} ${parts} ${cents}`;
}

/** An agent whose only effects go to an outside ledger, each with its idempotency key; without a ledger nowhere. */
export function paymentsAgent(ledgerUrl: string, revision: string): Agent {
  const pay = defineTool({
    name: "pay",
    description: "Pays one part of an order",
    level: "irreversible",
    recovery: "keyed",
    timeoutMs: 60_000,
    input: z.strictObject({ order: z.string(), part: z.int(), cents: z.int() }),
    execute: async ({ order, part }, { idempotencyKey }) => {
      if (ledgerUrl === "") return { paid: `${order}/${part}` };
      // Before and after, so that a kill hits each side of the effect.
      await sleep(5);
      const body = JSON.stringify({ effect: `${order}/${part}`, key: idempotencyKey });
      const response = await fetch(ledgerUrl, { method: "POST", body });
      if (!response.ok) throw new Error("the ledger refused");
      await sleep(5);
      return { paid: `${order}/${part}` };
    },
  });
  return defineAgent({
    name: "payments",
    revision,
    instructions: "Pay what you are told.",
    tools: [pay],
    limits: { stepsMax: 20, replyTokensMax: 50, identicalCalls: "off", cycles: "off" },
    rules: [
      {
        id: "limit",
        decide: ({ args }) =>
          (args as { cents: number }).cents > 1000
            ? { verdict: "ask", code: "ABOVE_LIMIT", reason: "more than 1,000 cents" }
            : { verdict: "allow", code: "OK", reason: "small" },
      },
    ],
  });
}

/** Reads the task from the transcript alone, so that any worker goes on where another stopped. */
export function paymentsModel(pauseMs: number): ModelClient {
  return {
    id: "payer",
    generate: async ({ messages }, { signal }) => {
      await sleep(pauseMs, undefined, { signal });
      const usage = { inputTokens: 100, outputTokens: 10 };
      const task = messages.find(({ role }) => role === "user");
      const [, order = "", parts = "0", cents = "0"] = (task !== undefined && "text" in task ? task.text : "").split(
        " ",
      );
      const done = messages.filter(({ role }) => role === "tool").length;
      if (done >= Number(parts)) return { kind: "final", text: "done", usage };
      const json = { order, part: done + 1, cents: Number(cents) };
      return { kind: "calls", text: "", calls: [{ tool: "pay", args: { json } }], usage };
    },
  };
}
