import { join } from "node:path";
import { createHarness, type Harness, type ModelClient, type RunResult, type Store } from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { shopAgent } from "../agent.ts";
import { shopPlanner } from "../planner.ts";
import { SHOP_PRICES } from "../prices.ts";
import { openShopWorld } from "../world/shop-world.ts";
import { createGateReader } from "./gate-lines.ts";
import type { Printer } from "./printer.ts";

/** Where the demonstration keeps its state; `belay --db <folder>/belay.db` reads the same files. */
export interface Stage {
  readonly folder: string;
  readonly storeFile: string;
  readonly worldFile: string;
  readonly printer: Printer;
}

export function createStage(folder: string, printer: Printer): Stage {
  return { folder, storeFile: join(folder, "belay.db"), worldFile: join(folder, "shop.db"), printer };
}

/** The shop's agent over the stage's files, in this process. */
export interface Desk {
  readonly harness: Harness;
  readonly store: Store;
  close(): Promise<void>;
}

/** Opens store and world, and makes both at first use; `model` defaults to the offline planner. */
export async function openDesk({ storeFile, worldFile }: Stage, model: ModelClient = shopPlanner()): Promise<Desk> {
  const store = await openSqliteStore(storeFile);
  const world = openShopWorld(worldFile);
  const harness = createHarness({ agent: shopAgent(world), model, store, prices: SHOP_PRICES });
  return {
    harness,
    store,
    close: async () => {
      world.close();
      await store.close();
    },
  };
}

/** Works with a desk and closes it, whatever happens. */
export async function withDesk<Value>(
  stage: Stage,
  work: (desk: Desk) => Promise<Value>,
  model?: ModelClient,
): Promise<Value> {
  const desk = await openDesk(stage, model);
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

export interface CustomerMessage {
  readonly customerId: string;
  readonly text: string;
}

/** Sends a customer's message to the agent and tells, gate by gate, what comes of it. */
export async function tellMessage(
  { printer }: Stage,
  { harness }: Desk,
  { customerId, text }: CustomerMessage,
): Promise<RunResult> {
  printer.line("customer", text);
  const handle = harness.run(text, { principal: { kind: "customer", id: customerId } });
  const reader = createGateReader();
  for await (const { event } of handle) {
    for (const { mark, what, why } of reader.read(event)) {
      printer.line(mark, what, why);
    }
  }
  const result = await handle.result;
  if (result.answer !== undefined) {
    printer.line("agent", result.answer);
  }
  return result;
}
