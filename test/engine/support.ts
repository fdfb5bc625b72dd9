import { z } from "zod";
import {
  type Agent,
  type AnyTool,
  createHarness,
  defineAgent,
  defineTool,
  type Harness,
  type HarnessOptions,
  type ModelReply,
  type Principal,
  type Rule,
  type StoredEntry,
} from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";

export const DANA: Principal = { kind: "person", id: "dana" };

/** A clock that a test moves by hand. */
export function manualClock(start = 1_800_000_000_000): { now(): number; advance(ms: number): void } {
  let at = start;
  return {
    now: () => at,
    advance: (ms) => {
      at += ms;
    },
  };
}

export interface Ledger {
  readonly effects: string[];
  readonly keys: string[];
}

/** A refund tool that writes down each time it really ran. */
export function refundTool(ledger: Ledger, change: Partial<AnyTool> = {}): AnyTool {
  return {
    ...defineTool({
      name: "refund",
      description: "Refunds an order",
      level: "irreversible",
      recovery: "keyed",
      input: z.strictObject({ order: z.string(), cents: z.int().positive() }),
      execute: async ({ order, cents }, { idempotencyKey }) => {
        ledger.effects.push(`${order}:${cents}`);
        ledger.keys.push(idempotencyKey);
        return { refunded: cents };
      },
    }),
    ...change,
  };
}

export function searchTool(ledger: Ledger): AnyTool {
  return defineTool({
    name: "search",
    description: "Searches",
    level: "read",
    recovery: "read",
    input: z.strictObject({ q: z.string() }),
    execute: async ({ q }) => {
      ledger.effects.push(`search ${q}`);
      return { found: q };
    },
  });
}

/** Allows everything, and asks a person for refunds above 1,000 cents. */
export const ASK_ABOVE_1000: Rule = {
  id: "auto_limit",
  decide: (call) => {
    if (call.level === "read") return undefined;
    const { cents = 0 } = call.args as { cents?: number };
    return cents > 1000
      ? { verdict: "ask", code: "ABOVE_LIMIT", reason: "above the automatic limit" }
      : { verdict: "allow", code: "OK", reason: "within the limit" };
  },
};

export function calls(...requested: readonly (readonly [tool: string, args: unknown])[]): ModelReply {
  return {
    kind: "calls",
    text: "",
    calls: requested.map(([tool, args]) => ({
      tool,
      args: typeof args === "string" ? { text: args } : { json: args },
    })),
  };
}

export function final(text: string): ModelReply {
  return { kind: "final", text };
}

export interface World extends Ledger {
  readonly harness: Harness;
  readonly options: HarnessOptions;
  readonly model: ReturnType<typeof scriptedModel>;
  readonly clock: ReturnType<typeof manualClock>;
  types(runId: string): Promise<readonly string[]>;
}

/** A harness over a scripted model, with a ledger of what really happened. */
export function world(
  replies: readonly ModelReply[],
  change: {
    readonly agent?: Partial<Agent>;
    readonly tools?: (ledger: Ledger) => readonly AnyTool[];
    readonly options?: Partial<HarnessOptions>;
  } = {},
): World {
  const ledger: Ledger = { effects: [], keys: [] };
  const clock = manualClock();
  const model = scriptedModel(replies);
  const agent = defineAgent({
    name: "test",
    revision: "1",
    instructions: "Help.",
    tools: change.tools?.(ledger) ?? [refundTool(ledger), searchTool(ledger)],
    rules: [ASK_ABOVE_1000],
    ...change.agent,
  });
  const options: HarnessOptions = { agent, model, store: createMemoryStore(), clock, ...change.options };
  const harness = createHarness(options);
  return {
    ...ledger,
    harness,
    options,
    model,
    clock,
    types: async (runId) =>
      ((await harness.entries({ tenant: "default", runId })) as readonly StoredEntry[]).map(({ event }) => event.type),
  };
}

export type { Script };
