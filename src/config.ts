import type { JsonValue, Principal } from "./core/index.ts";
import type { Agent } from "./engine/index.ts";
import type { AppEvals, CalibrationItem, EvalSuite, RedTeam } from "./evals/index.ts";
import type { ModelClient, PriceTable } from "./model/index.ts";

/** The application's own data, which rules read and tools change. */
export interface World {
  /** End state as plain data, for evaluations and for people. */
  snapshot(): unknown;
  /** Forgets what is kept for one run alone, when the world keeps anything by run. */
  reset?(run: { readonly tenant: string; readonly runId: string }): void;
  close(): void;
}

/** Money that a call is about, in the smallest unit of its currency, such as 150000 paise. */
export interface MoneyAtStake {
  readonly amount: number;
  readonly unit: string;
}

/** An application that the CLI, the server and evaluations can run. */
export interface App<AppWorld extends World = World> {
  readonly name: string;
  readonly description: string;
  /**
   * Opens the world at a file path, creating and seeding it when missing; `:memory:` gives a fresh seeded one.
   *
   * With `create: false` the world must be there, because runs have worked on it: throws `BELAY_WORLD_INVALID` otherwise,
   * since a fresh one is not what anybody decided about.
   */
  openWorld(path: string, options?: { readonly create?: boolean }): AppWorld;
  agent(world: AppWorld, now: () => number): Agent;
  /** A model that works with no key. */
  offlineModel(world: AppWorld): ModelClient;
  readonly prices?: PriceTable;
  /** For whom `belay run` and evaluations speak when no customer is named. Default a customer named "customer". */
  readonly defaultPrincipal?: Principal;
  readonly suites?: Readonly<Record<string, () => Promise<EvalSuite>>>;
  /** How the results of the suites are judged. */
  readonly evals?: AppEvals;
  /** Faults that `configure({ weaknesses })` can build in, in the order in which a team would mend them. */
  readonly weaknessNames?: readonly string[];
  /** Answers that people graded, against which judges are held. */
  readonly calibration?: () => Promise<readonly CalibrationItem[]>;
  /** Attacks on the app, and the ordinary cases that must still work beside them. */
  readonly redTeam?: RedTeam;
  /** Money that a call is about; `undefined` for a call without any. Told when a recorded run is decided again. */
  moneyAtStake?(call: { readonly tool: string; readonly args: JsonValue }): MoneyAtStake | undefined;
  /**
   * The same app with settings of its own, by name, such as `{ weaknesses: "naive_retry" }`. Throws a `BelayError` for
   * a setting or a value that it does not know.
   */
  configure?(settings: Readonly<Record<string, string>>): AnyApp;
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

/** Which questions it is about, who may answer them, and how many must agree. */
export interface ApprovalRule {
  /** Absent: the calls of every tool. */
  readonly tools?: readonly string[];
  /** Codes with which a rule asked; absent: every code. */
  readonly codes?: readonly string[];
  /** A number among the arguments, by name; `from` belongs to the range and `below` does not. */
  readonly amount?: { readonly argument: string; readonly from?: number; readonly below?: number };
  /** Ids of the only persons who may answer. Absent: everybody with one of `roles`. */
  readonly persons?: readonly string[];
  /** Default approver and admin. */
  readonly roles?: Person["roles"];
  /** Distinct people that must say yes, never the one who asked. One no is enough. Default 1. */
  readonly approvals?: number;
}

/** Where to tell that a question waits. The secret that signs it comes from the environment (BELAY_WEBHOOK_SECRET). */
export interface WebhookTarget {
  readonly url: string;
  /** Host names that may be called, exactly as in the address. */
  readonly hosts: readonly string[];
  /** Default 443. */
  readonly ports?: readonly number[];
  /** Default https alone. */
  readonly schemes?: readonly ("https" | "http")[];
  /** Addresses of private ranges that may be called all the same, such as "10.0.0.7" or "10.0.0.0/24". */
  readonly privateAddresses?: readonly string[];
}

/** A message that `belay serve` sends once, on a new database, so that there is something to see. */
export interface DemoMessage {
  readonly app: string;
  readonly message: string;
  /** Customer who writes; default the app's own. */
  readonly as?: string;
}

export interface Config {
  readonly apps: Readonly<Record<string, () => Promise<{ readonly default: AnyApp }>>>;
  readonly people?: readonly Person[];
  /** The first rule about a question says who answers it. With rules, a question that none is about is for nobody. */
  readonly approvals?: readonly ApprovalRule[];
  readonly webhook?: WebhookTarget;
  /** The first one is told on the terminal. */
  readonly demo?: readonly DemoMessage[];
}

/** Declares the project that `belay` runs: its apps and people. */
export function defineConfig(config: Config): Config {
  return config;
}

/** Declares an application. */
export function defineApp<AppWorld extends World>(app: App<AppWorld>): App<AppWorld> {
  return app;
}
