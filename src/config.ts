import type { Agent } from "./engine/index.ts";
import type { EvalSuite } from "./evals/index.ts";
import type { ModelClient, PriceTable } from "./model/index.ts";

/** The application's own data, which rules read and tools change. */
export interface World {
  /** End state as plain data, for evaluations and for people. */
  snapshot(): unknown;
  close(): void;
}

/** An application that the CLI, the server and evaluations can run. */
export interface App<AppWorld extends World = World> {
  readonly name: string;
  readonly description: string;
  /** Opens the world at a file path, creating and seeding it when missing; `:memory:` gives a fresh seeded one. */
  openWorld(path: string): AppWorld;
  agent(world: AppWorld, now: () => number): Agent;
  /** A model that works with no key. */
  offlineModel(world: AppWorld): ModelClient;
  readonly prices?: PriceTable;
  /** Principal id used by `belay run` when `--as` is not given. */
  readonly defaultPrincipal?: string;
  readonly suites?: Readonly<Record<string, () => Promise<EvalSuite>>>;
}

export type AnyApp = Omit<App, "agent" | "offlineModel"> & {
  agent(world: never, now: () => number): Agent;
  offlineModel(world: never): ModelClient;
};

export interface Person {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly ("viewer" | "operator" | "approver" | "admin")[];
}

export interface Config {
  readonly apps: Readonly<Record<string, () => Promise<{ readonly default: AnyApp }>>>;
  readonly people?: readonly Person[];
}

/** Declares the project that `belay` runs: its apps and people. */
export function defineConfig(config: Config): Config {
  return config;
}

/** Declares an application. */
export function defineApp<AppWorld extends World>(app: App<AppWorld>): App<AppWorld> {
  return app;
}
