import { join } from "node:path";
import type { AnyApp, Person, World } from "../config.ts";
import { createHarness, type Harness } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { Store } from "../journal/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import { type LoadedConfig, loadApp, loadConfig } from "./load-config.ts";
import type { Place } from "./place.ts";
import { usageError } from "./usage.ts";

/** An app with its world and a harness over the project's store. */
export interface OpenApp {
  /** Name in the configuration. */
  readonly name: string;
  readonly app: AnyApp;
  readonly harness: Harness;
  close(): void;
}

export function projectConfig(input: CommandInput): Promise<LoadedConfig> {
  return loadConfig(input.cwd, textOption(input, "config"));
}

/** Opens an app over a store; its world lies beside the database. */
export async function openApp(
  config: LoadedConfig,
  name: string,
  place: Place,
  store: Store,
  onAlarm: (text: string) => void,
): Promise<OpenApp> {
  const app = await loadApp(config, name);
  const worldFile = join(place.folder, `${name}.db`);
  if (worldFile === place.db) {
    throw usageError(`The database ${place.db} would be the data of the app ${name} too. Give another --db.`);
  }
  const world: World = app.openWorld(worldFile);
  try {
    const harness = createHarness({
      // The world came from this very app, whose type of world is lost in a list of apps.
      agent: app.agent(world as never, Date.now),
      model: app.offlineModel(world as never),
      store,
      ...(app.prices && { prices: app.prices }),
      mayDecide: (by) => by.kind === "person" && mayApprove(findPerson(config, by.id)),
      onAlarm: ({ code, detail }) => onAlarm(`${code}: ${detail}`),
    });
    return { name, app, harness, close: () => world.close() };
  } catch (error) {
    world.close();
    throw error;
  }
}

/** Name in the configuration of the app whose agent has this name; throws `BELAY_APP_UNKNOWN`. */
export async function appNameOfAgent(config: LoadedConfig, agentName: string): Promise<string> {
  // The configuration nearly always calls an app what its agent is called, and loading an app is not free.
  const names = Object.keys(config.apps).sort((one, other) => Number(other === agentName) - Number(one === agentName));
  for (const name of names) {
    if ((await agentNameOfApp(config, name)) === agentName) {
      return name;
    }
  }
  throw new BelayError(
    "BELAY_APP_UNKNOWN",
    `The run belongs to the agent ${JSON.stringify(agentName)}, and no app of ${config.file} has it. ` +
      `There are: ${names.sort().join(", ")}. Add the app, or pass the --config that has it.`,
  );
}

/** Name of an app's agent, which is the name that runs carry. */
export async function agentNameOfApp(config: LoadedConfig, name: string): Promise<string> {
  const app = await loadApp(config, name);
  const world: World = app.openWorld(":memory:");
  try {
    return app.agent(world as never, Date.now).name;
  } finally {
    world.close();
  }
}

export function findPerson(config: LoadedConfig, id: string): Person | undefined {
  return config.people?.find((person) => person.id === id);
}

export function mayApprove(person: Person | undefined): boolean {
  return person?.roles.some((role) => role === "approver" || role === "admin") ?? false;
}
