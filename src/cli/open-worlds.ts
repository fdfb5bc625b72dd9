import { join } from "node:path";
import type { AnyApp, World } from "../config.ts";
import type { Agent } from "../engine/index.ts";
import type { Store } from "../journal/index.ts";
import type { ModelClient, PriceTable } from "../model/index.ts";
import { type LoadedConfig, loadApp } from "./load-config.ts";
import { type ChosenModel, checkPriced } from "./model-option.ts";
import type { Place } from "./place.ts";
import { agentNameOf, hasRuns } from "./project.ts";

/** An app of a project with its world open. */
export interface OpenedApp {
  readonly name: string;
  readonly app: AnyApp;
  readonly agent: Agent;
  /** The chosen model, or the app's own, which needs no network. */
  readonly model: ModelClient;
  readonly isOffline: boolean;
  readonly prices: PriceTable;
}

export interface OpenedWorlds extends Disposable {
  readonly apps: readonly OpenedApp[];
}

/** The file of an app's world. */
export function worldFile({ folder }: Place, app: string): string {
  return join(folder, `${app}.db`);
}

/** Opens every app of a configuration; the world of each lies in the folder of `place`. Nothing stays open on a failure. */
export async function openWorlds(
  config: LoadedConfig,
  place: Place,
  store: Store,
  chosen: ChosenModel | undefined,
): Promise<OpenedWorlds> {
  const apps: OpenedApp[] = [];
  const worlds: World[] = [];
  const close = (): void => {
    for (const world of worlds.splice(0)) world.close();
  };
  try {
    for (const name of Object.keys(config.apps)) {
      const app = await loadApp(config, name);
      const create = !(await hasRuns(store, place.tenant, agentNameOf(app)));
      const world: World = app.openWorld(worldFile(place, name), { create });
      worlds.push(world);
      // The world came from this very app, whose type of world is lost in a list of apps.
      const agent = app.agent(world as never, Date.now);
      const prices = { ...app.prices, ...chosen?.prices };
      if (chosen !== undefined) checkPriced(chosen.client.id, prices, agent);
      const model = chosen?.client ?? app.offlineModel(world as never);
      apps.push({ name, app, agent, model, isOffline: chosen === undefined, prices });
    }
  } catch (error) {
    close();
    throw error;
  }
  return { apps, [Symbol.dispose]: close };
}
