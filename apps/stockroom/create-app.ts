import { BelayError } from "belay-harness";
import { type App, defineApp } from "belay-harness/config";
import { type StockroomAgentOptions, stockroomAgent } from "./agent.ts";
import { type StockroomSettings, stockroomConfig } from "./config.ts";
import { stockroomEvals } from "./evals/index.ts";
import { GOLDEN_SLICE } from "./golden/slice.ts";
import { stockroomPlanner } from "./planner.ts";
import { STOCKROOM_PRICES } from "./prices.ts";
import { readWeaknesses, WEAKNESSES } from "./weaknesses.ts";
import { openStockroomWorld, type StockroomWorld } from "./world/stockroom-world.ts";

/** Settings of the app, its weaknesses among them, and the seams of its agent. */
export type StockroomAppOptions = Partial<StockroomSettings> & Omit<StockroomAgentOptions, "config">;

/**
 * Makes the stockroom app with settings of its own; nothing is read from the environment.
 *
 * Throws `BELAY_CONFIG_INVALID` and `BELAY_WEAKNESS_UNKNOWN`.
 */
export function createStockroomApp(options: StockroomAppOptions = {}): App<StockroomWorld> {
  const { descriptions, guards, executor, ...settings } = options;
  const config = stockroomConfig(settings);
  return defineApp({
    name: "stockroom",
    description: "Warehouse agent: finds products, stock levels, orders and policies, and requests restocks",
    openWorld: (path, options) => openStockroomWorld(path, options),
    agent: (world) =>
      stockroomAgent(world, {
        config,
        ...(descriptions && { descriptions }),
        ...(guards && { guards }),
        ...(executor && { executor }),
      }),
    offlineModel: () => stockroomPlanner({ weaknesses: config.weaknesses }),
    prices: STOCKROOM_PRICES,
    defaultPrincipal: { kind: "customer", id: "warehouse" },
    configure: (named) => createStockroomApp({ ...options, ...readSettings(named) }),
    evals: stockroomEvals(config.weaknesses),
    weaknessNames: WEAKNESSES,
    redTeam: {
      attacks: async () => (await import("./red-team/index.ts")).attackSuite(),
      slice: { suite: "reference", cases: GOLDEN_SLICE },
    },
    calibration: async () => (await import("./judge/index.ts")).calibrationSet(),
    suites: {
      reference: async () => (await import("./golden/index.ts")).referenceSuite(),
      guards: async () => (await import("./golden/index.ts")).guardsSuite(),
    },
  });
}

function readSettings(named: Readonly<Record<string, string>>): Partial<StockroomSettings> {
  const { weaknesses, ...others } = named;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_CONFIG_INVALID",
      `the stockroom has no setting ${JSON.stringify(unknown)}; it has weaknesses`,
    );
  }
  return weaknesses === undefined ? {} : { weaknesses: readWeaknesses(weaknesses) };
}
