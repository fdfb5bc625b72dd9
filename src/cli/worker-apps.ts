import { mkdirSync } from "node:fs";
import { type Agent, createHarness, type Harness, type HarnessOptions, type Waker } from "../engine/index.ts";
import { createUndo, undoneAgentName } from "../gate/index.ts";
import type { Store } from "../journal/index.ts";
import type { LoadedConfig } from "./load-config.ts";
import type { ChosenModel } from "./model-option.ts";
import { openWorlds } from "./open-worlds.ts";
import type { Place } from "./place.ts";

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
  const worlds = await openWorlds(config, place, store, options.chosen);
  const agents = new Map(worlds.apps.map(({ agent }) => [agent.name, agent]));
  const harnesses = new Map<string, Harness>();
  try {
    for (const { agent, model, prices } of worlds.apps) {
      harnesses.set(agent.name, createHarness({ ...seams, agent, model, prices }));
    }
  } catch (error) {
    worlds[Symbol.dispose]();
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
    [Symbol.dispose]: () => worlds[Symbol.dispose](),
  };
}
