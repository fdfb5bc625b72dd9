import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyApp, Config, Person } from "../config.ts";
import { BelayError } from "../errors.ts";
import { explainLoadFailure } from "./load-failure.ts";

const FILE_NAMES = ["belay.config.mts", "belay.config.ts", "belay.config.mjs"];
const ROLES: readonly unknown[] = ["viewer", "operator", "approver", "admin"] satisfies Person["roles"];
// An app's name is also the name of a file and a word on the command line.
const APP_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

export interface LoadedConfig extends Config {
  readonly file: string;
}

/**
 * Loads the configuration of the folder `cwd`, or the file that `given` names.
 *
 * Throws a `BELAY_CONFIG_*` error with the remedy for every way in which that can fail.
 */
export async function loadConfig(cwd: string, given?: string): Promise<LoadedConfig> {
  const file = findFile(cwd, given);
  const what = `The configuration ${file}`;
  const config = await importDefault(pathToFileURL(file).href, what);
  const problem = configProblem(config);
  if (problem !== undefined) {
    throw new BelayError(
      "BELAY_CONFIG_INVALID",
      `${what} ${problem}. Write: export default defineConfig({ apps: { name: () => import("./app.ts") }, people })`,
    );
  }
  return { ...(config as Config), file };
}

/** Loads one app of a configuration; throws `BELAY_APP_UNKNOWN` when it is not there. */
export async function loadApp(config: LoadedConfig, name: string): Promise<AnyApp> {
  const load = Object.hasOwn(config.apps, name) ? config.apps[name] : undefined;
  if (load === undefined) {
    throw new BelayError(
      "BELAY_APP_UNKNOWN",
      `There is no app ${JSON.stringify(name)} in ${config.file}. It has: ${Object.keys(config.apps).join(", ")}.`,
    );
  }
  const what = `The app ${name} of ${config.file}`;
  const app = await loading(async () => (await load())?.default, what);
  if (!isApp(app)) {
    throw new BelayError("BELAY_CONFIG_INVALID", `${what} is not an app. Write: export default defineApp({ … })`);
  }
  return app;
}

function findFile(cwd: string, given: string | undefined): string {
  const file =
    given === undefined ? FILE_NAMES.map((name) => resolve(cwd, name)).find(existsSync) : resolve(cwd, given);
  if (file === undefined || !existsSync(file)) {
    const message =
      file === undefined
        ? `There is no belay.config.mts, .ts or .mjs in ${cwd}. Go to the project's folder, or pass --config <file>.`
        : `The configuration ${file} does not exist. Correct --config.`;
    throw new BelayError("BELAY_CONFIG_NOT_FOUND", message);
  }
  return file;
}

function importDefault(url: string, what: string): Promise<unknown> {
  // Absolute, because the compiler rewrites the extension of a relative computed import.
  return loading(async () => ((await import(url)) as { readonly default?: unknown }).default, what);
}

async function loading<Value>(load: () => Promise<Value>, what: string): Promise<Value> {
  try {
    return await load();
  } catch (error) {
    throw explainLoadFailure(error, what);
  }
}

function configProblem(config: unknown): string | undefined {
  if (!isObject(config)) {
    return "has no default export";
  }
  const { apps, people = [] } = config;
  if (!isObject(apps) || Object.keys(apps).length === 0) {
    return "names no apps";
  }
  const badApp = Object.entries(apps).find(([name, load]) => !APP_NAME.test(name) || typeof load !== "function");
  if (badApp !== undefined) {
    return `has an app ${JSON.stringify(badApp[0])} whose name or loader is not usable (letters, digits, - and _; a function)`;
  }
  return Array.isArray(people) ? peopleProblem(people) : "has people that are not a list";
}

function peopleProblem(people: readonly unknown[]): string | undefined {
  const bad = people.findIndex((person) => !isPerson(person));
  if (bad !== -1) {
    return `has a person (number ${bad + 1}) without id, name and roles of ${ROLES.join(", ")}`;
  }
  const ids = people.filter(isPerson).map((person) => person.id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  return twice === undefined ? undefined : `has two people with the id ${JSON.stringify(twice)}`;
}

function isPerson(value: unknown): value is Person {
  return (
    isObject(value) &&
    typeof value["id"] === "string" &&
    value["id"] !== "" &&
    typeof value["name"] === "string" &&
    Array.isArray(value["roles"]) &&
    value["roles"].every((role) => ROLES.includes(role))
  );
}

function isApp(value: unknown): value is AnyApp {
  return (
    isObject(value) &&
    typeof value["name"] === "string" &&
    ["openWorld", "agent", "offlineModel"].every((method) => typeof value[method] === "function")
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
