import { stockroomConfig } from "../../../apps/stockroom/config.ts";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import type { RunGuard } from "../../../apps/stockroom/guards/run-guard.ts";
import { runGuardRules } from "../../../apps/stockroom/guards/run-guard-rules.ts";
import { createStockroomHarness, type StockroomHarnessOptions } from "../../../apps/stockroom/harness.ts";
import type { StockroomResult } from "../../../apps/stockroom/result/run-result.ts";
import type { Weakness } from "../../../apps/stockroom/weaknesses.ts";
import {
  type AgentMetrics,
  type AgentOutcome,
  agentMetrics,
  runSuite,
  type SuiteResult,
} from "../../../src/evals/index.ts";
import type { ModelClient, ModelReply, ToolContext } from "../../../src/index.ts";

export interface SuiteRun {
  readonly result: SuiteResult;
  readonly metrics: AgentMetrics;
  /** Ids of the cases of which something is not true. */
  failing(what: keyof AgentOutcome): readonly string[];
}

const runs = new Map<string, Promise<SuiteRun>>();

/** Runs the golden cases once for each set of weaknesses and guards. */
export function goldenRun(weaknesses: readonly Weakness[], guards: readonly RunGuard[] = []): Promise<SuiteRun> {
  const key = `${weaknesses.toSorted().join(",")} ${guards.map(({ name }) => name).join(",")}`;
  const known = runs.get(key);
  if (known !== undefined) {
    return known;
  }
  const made = compute(weaknesses, guards);
  runs.set(key, made);
  return made;
}

/** How many different runs of the suite there were. */
export function computedRuns(): number {
  return runs.size;
}

async function compute(weaknesses: readonly Weakness[], guards: readonly RunGuard[]): Promise<SuiteRun> {
  const app = createStockroomApp({ weaknesses, guards: runGuardRules(guards).rules });
  const result = await runSuite(app, "reference", { parallel: 8 });
  const metrics = agentMetrics(result);
  if (metrics === undefined) {
    throw new Error("the golden cases name no expected tools");
  }
  return {
    result,
    metrics,
    failing: (what) => result.cases.filter(({ agent }) => agent?.[what] === false).map(({ id }) => id),
  };
}

/** `G007`, `G008`, … */
export function ids(...numbers: readonly number[]): readonly string[] {
  return numbers.map((number) => `G${String(number).padStart(3, "0")}`);
}

/** Runs one query on a harness of its own. */
export async function ask(query: string, options: StockroomHarnessOptions = {}): Promise<StockroomResult> {
  await using harness = createStockroomHarness(options);
  return await harness.run(query);
}

export function weak(...weaknesses: readonly Weakness[]): StockroomHarnessOptions {
  return { config: stockroomConfig({ weaknesses }) };
}

/** A model that says what a function tells it, with a fixed use of tokens. */
export function stubModel(
  reply: (call: number) => ModelReply,
  usage: { readonly inputTokens: number; readonly outputTokens: number } = { inputTokens: 100, outputTokens: 10 },
): ModelClient {
  let calls = 0;
  return {
    id: "stub",
    generate: async () => {
      calls += 1;
      return { ...reply(calls), usage };
    },
  };
}

export function toolCall(tool: string, args: unknown): ModelReply {
  return { kind: "calls", text: "", calls: [{ tool, args: { json: args } }] };
}

export function final(text: string): ModelReply {
  return { kind: "final", text };
}

/** Replies one after the other; the last one for ever. */
export function script(...replies: readonly ModelReply[]): ModelClient {
  return stubModel((call) => replies[Math.min(call, replies.length) - 1] ?? final("done"));
}

export function toolContext(change: Partial<ToolContext> = {}): ToolContext {
  return {
    runId: "run_1",
    tenant: "default",
    principal: { kind: "customer", id: "warehouse" },
    callId: "c1.1",
    idempotencyKey: "key-1",
    attempt: 1,
    now: 0,
    signal: new AbortController().signal,
    ...change,
  };
}
