import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { World } from "../config.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions, type Waker } from "../engine/index.ts";
import { createUndo, undoneAgentName } from "../gate/index.ts";
import type { Store } from "../journal/index.ts";
import { type LoadedConfig, loadApp } from "./load-config.ts";
import { type ChosenModel, checkPriced } from "./model-option.ts";
import type { Place } from "./place.ts";
import { agentNameOf, hasRuns } from "./project.ts";

/** The apps of a project as a worker drives them. */
export interface WorkerApps extends Disposable {
  readonly agents: readonly Agent[];
  /** The harness that goes on with the runs of an agent, or takes them back; undefined for an agent of no app. */
  harnessOf(agent: string): Harness | undefined;
}

export interface WorkerAppsOptions {
  readonly store: Store;
  readonly waker: Waker;
  readonly leaseMs: number;
  readonly chosen: ChosenModel | undefined;
  readonly onAlarm: (text: string) => void;
  /** Goes on with runs of another model than the app's or the chosen one. */
  readonly allowOtherModel: boolean;
}

type Seams = Pick<HarnessOptions, "store" | "waker" | "leaseMs" | "mayDecide" | "onAlarm" | "allowOtherModel">;

/** Opens every app of a configuration; the world of each lies in the folder of `place`. */
export async function openWorkerApps(
  config: LoadedConfig,
  place: Place,
  options: WorkerAppsOptions,
): Promise<WorkerApps> {
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  const { store, waker, leaseMs, onAlarm, allowOtherModel } = options;
  const seams: Seams = {
    ...{ store, waker, leaseMs, allowOtherModel },
    // A worker asks nobody and answers for nobody.
    mayDecide: () => false,
    onAlarm: ({ code, detail }) => onAlarm(`${code}: ${detail}`),
  };
  const harnesses = new Map<string, Harness>();
  const agents = new Map<string, Agent>();
  const worlds: World[] = [];
  const close = (): void => {
    for (const world of worlds.splice(0)) world.close();
  };
  try {
    for (const name of Object.keys(config.apps)) {
      const app = await loadApp(config, name);
      const create = !(await hasRuns(store, place.tenant, agentNameOf(app)));
      const world: World = app.openWorld(join(place.folder, `${name}.db`), { create });
      worlds.push(world);
      // The world came from this very app, whose type of world is lost in a list of apps.
      const agent = app.agent(world as never, Date.now);
      const prices = { ...app.prices, ...options.chosen?.prices };
      if (options.chosen !== undefined) checkPriced(options.chosen.client.id, prices, agent);
      const model = options.chosen?.client ?? app.offlineModel(world as never);
      agents.set(agent.name, agent);
      harnesses.set(agent.name, createHarness({ ...seams, agent, model, prices }));
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    agents: [...agents.values()],
    harnessOf(name) {
      const undone = agents.get(undoneAgentName(name) ?? "");
      if (undone !== undefined && !harnesses.has(name)) {
        harnesses.set(name, createUndo({ ...seams, agent: undone }).harness);
      }
      return harnesses.get(name);
    },
    [Symbol.dispose]: close,
  };
}
