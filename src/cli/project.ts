import { join } from "node:path";
import { isNamed, ruleFor } from "../approval/index.ts";
import type { AnyApp, Person, World } from "../config.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import { createUndo, type Undo, undoneAgentName } from "../gate/index.ts";
import type { Store } from "../journal/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import { type LoadedConfig, loadApp, loadConfig } from "./load-config.ts";
import { type ChosenModel, checkPriced } from "./model-option.ts";
import type { Place } from "./place.ts";
import { usageError } from "./usage.ts";

/** An app with its world and a harness over the project's store. */
export interface OpenApp {
  /** Name in the configuration. */
  readonly name: string;
  readonly app: AnyApp;
  readonly harness: Harness;
  /** Of the model that the app's runs ask here. */
  readonly modelId: string;
  /** What takes back the runs of the app. */
  undo(): Undo;
  close(): void;
}

/** The harness that goes on with the runs of an agent: the app's own, or the one that takes back what it did. */
export function harnessOf(opened: OpenApp, agentName: string): Harness {
  return undoneAgentName(agentName) === undefined ? opened.harness : opened.undo().harness;
}

export function projectConfig(input: CommandInput): Promise<LoadedConfig> {
  return loadConfig(input.cwd, textOption(input, "config"));
}

const UNFINISHED_MAX = 100;

export interface OpenAppOptions {
  /** Absent: the app's offline model answers. */
  readonly chosen?: ChosenModel | undefined;
  /** Goes on with runs of another model, because the command names one. */
  readonly allowOtherModel?: boolean;
  /** One no is enough, also to a question whose yes takes several people. */
  readonly isRejection?: boolean;
  /** Puts the tools of the agent somewhere else. */
  readonly through?: (agent: Agent) => Promise<Agent>;
}

/**
 * Opens an app over a store; its world lies beside the database, and is made only while the app has no runs.
 */
export async function openApp(
  config: LoadedConfig,
  name: string,
  place: Place,
  store: Store,
  onAlarm: (text: string) => void,
  { chosen, allowOtherModel = false, isRejection = false, through }: OpenAppOptions = {},
): Promise<OpenApp> {
  const app = await loadApp(config, name);
  const worldFile = join(place.folder, `${name}.db`);
  if (worldFile === place.db) {
    throw usageError(`The database ${place.db} would be the data of the app ${name} too. Give another --db.`);
  }
  // A world that is made anew is not the one that people and rules have decided about.
  const create = !(await hasRuns(store, place.tenant, agentNameOf(app)));
  const world: World = app.openWorld(worldFile, { create });
  try {
    // The world came from this very app, whose type of world is lost in a list of apps.
    const declared = app.agent(world as never, Date.now);
    const agent = (await through?.(declared)) ?? declared;
    const prices = { ...app.prices, ...chosen?.prices };
    if (chosen !== undefined) checkPriced(chosen.client.id, prices, agent);
    const seams: Pick<HarnessOptions, "store" | "mayDecide" | "onAlarm"> = {
      store,
      mayDecide: (by, approval) => {
        const person = by.kind === "person" ? findPerson(config, by.id) : undefined;
        if (person === undefined || !mayApprove(person)) return false;
        const found = ruleFor(config.approvals ?? [], approval);
        // A question for several people is answered in the console, which counts their votes.
        return found.ok && (found.needed === 1 || isRejection) && isNamed(found.rule, person);
      },
      onAlarm: ({ code, detail }) => onAlarm(`${code}: ${detail}`),
    };
    const model = chosen?.client ?? app.offlineModel(world as never);
    const harness = createHarness({
      ...seams,
      agent,
      // Adapters try again by themselves; whoever sits before the terminal is told after that.
      modelRetry: { attemptsMax: 1 },
      allowOtherModel,
      model,
      prices,
    });
    return {
      name,
      app,
      harness,
      modelId: model.id,
      undo: () => createUndo({ ...seams, agent }),
      close: () => world.close(),
    };
  } catch (error) {
    world.close();
    throw error;
  }
}

/** Name in the configuration of the app whose agent has this name; throws `BELAY_APP_UNKNOWN`. */
export async function appNameOfAgent(config: LoadedConfig, agentName: string): Promise<string> {
  const wanted = undoneAgentName(agentName) ?? agentName;
  // The configuration nearly always calls an app what its agent is called, and loading an app is not free.
  const names = Object.keys(config.apps).sort((one, other) => Number(other === wanted) - Number(one === wanted));
  for (const name of names) {
    if ((await agentNameOfApp(config, name)) === wanted) {
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
  return agentNameOf(await loadApp(config, name));
}

/** True when the app has worked on its world: runs of the tenant, or unfinished ones of any. */
export async function hasRuns(store: Store, tenant: string, agent: string): Promise<boolean> {
  const own = await store.runs({ tenant, agent, limit: 1 });
  return own.length > 0 || (await store.unfinished(UNFINISHED_MAX)).some((row) => row.agent === agent);
}

/** Name of the agent of an app. */
export function agentNameOf(app: AnyApp): string {
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
