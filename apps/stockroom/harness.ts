import type { Store } from "belay-harness";
import { type Clock, createHarness, type ModelClient, type ToolExecutor } from "belay-harness";
import { createMemoryStore } from "belay-harness/store";
import { stockroomAgent } from "./agent.ts";
import { type StockroomConfig, stockroomConfig } from "./config.ts";
import type { RunGuard } from "./guards/run-guard.ts";
import { runGuardRules } from "./guards/run-guard-rules.ts";
import { stockroomPlanner } from "./planner.ts";
import { STOCKROOM_PRICES } from "./prices.ts";
import { type StockroomResult, stockroomResult } from "./result/run-result.ts";
import type { StockroomToolOptions } from "./tools/index.ts";
import { openStockroomWorld, type StockroomWorld } from "./world/stockroom-world.ts";

/** The seams of the stockroom's harness; each has a default that needs no key and no file. */
export interface StockroomHarnessOptions {
  readonly config?: StockroomConfig;
  /** Default: the offline planner. */
  readonly model?: ModelClient;
  /** Wraps the executor of the tools. */
  readonly executor?: (inner: ToolExecutor) => ToolExecutor;
  readonly clock?: Clock;
  readonly runGuards?: readonly RunGuard[];
  readonly descriptions?: StockroomToolOptions["descriptions"];
  /** Default a store in memory. A tracer follows the runs of a store. */
  readonly store?: Store;
  /** Default a fresh world in memory, which `close` closes. */
  readonly world?: StockroomWorld;
}

export interface StockroomHarness extends AsyncDisposable {
  readonly store: Store;
  /**
   * Runs one query to its end. Throws the `TypeError` of a run guard that broke its contract; the call that it was
   * asked about has not run.
   */
  run(query: string, caseId?: string): Promise<StockroomResult>;
  /** Closes what the harness opened itself. */
  close(): Promise<void>;
}

/** Puts the agent, a model and a store together. Throws a `BelayError` for options that cannot work. */
export function createStockroomHarness(options: StockroomHarnessOptions = {}): StockroomHarness {
  const { config = stockroomConfig(), runGuards = [], descriptions, executor, clock } = options;
  const world = options.world ?? openStockroomWorld(":memory:");
  const store = options.store ?? createMemoryStore();
  const guards = runGuardRules(runGuards);
  const harness = createHarness({
    agent: stockroomAgent(world, {
      config,
      guards: guards.rules,
      ...(descriptions && { descriptions }),
      ...(executor && { executor }),
    }),
    model: options.model ?? stockroomPlanner({ weaknesses: config.weaknesses }),
    store,
    prices: STOCKROOM_PRICES,
    ...(clock && { clock }),
  });
  const close = async (): Promise<void> => {
    if (options.store === undefined) {
      await store.close();
    }
    if (options.world === undefined) {
      world.close();
    }
  };
  return {
    store,
    run: async (query, caseId) => {
      const result = await harness.run(query).result;
      const error = guards.takeError(result.runId);
      if (error !== undefined) {
        throw error;
      }
      const { formatToolError } = harness.agent;
      return stockroomResult(result, await harness.entries(result), {
        ...(caseId !== undefined && { caseId }),
        ...(formatToolError && { formatToolError }),
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
