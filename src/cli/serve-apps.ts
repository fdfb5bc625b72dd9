import { join } from "node:path";
import type { World } from "../config.ts";
import type { Principal } from "../core/index.ts";
import { createHarness, type HarnessOptions, type Waker } from "../engine/index.ts";
import type { RunKey, Store } from "../journal/index.ts";
import type { ServedApp } from "../server/index.ts";
import { type LoadedConfig, loadApp } from "./load-config.ts";
import type { Place } from "./place.ts";
import { agentNameOf, hasRuns } from "./project.ts";
import { usageError } from "./usage.ts";

/** The apps of a project over one store, until closed. */
export interface ServedApps extends Disposable {
  readonly apps: ReadonlyMap<string, ServedApp>;
  /** In whose name an app runs when nobody is named. */
  readonly principals: ReadonlyMap<string, Principal | undefined>;
}

export interface ServedAppsOptions {
  readonly store: Store;
  readonly mayDecide: NonNullable<HarnessOptions["mayDecide"]>;
  readonly onAlarm: NonNullable<HarnessOptions["onAlarm"]>;
  /** Wake-ups that other processes see; absent: of this process alone. */
  readonly waker?: Waker;
}

/** Opens every app of a configuration; the world of each lies beside the database. */
export async function openApps(config: LoadedConfig, place: Place, options: ServedAppsOptions): Promise<ServedApps> {
  const apps = new Map<string, ServedApp>();
  const principals = new Map<string, Principal | undefined>();
  const worlds: World[] = [];
  const close = (): void => {
    for (const world of worlds.splice(0)) world.close();
  };
  try {
    for (const name of Object.keys(config.apps)) {
      const app = await loadApp(config, name);
      const file = join(place.folder, `${name}.db`);
      if (file === place.db)
        throw usageError(`${place.db} would be the data of the app ${name} too. Give another --db.`);
      const create = !(await hasRuns(options.store, place.tenant, agentNameOf(app)));
      const world: World = app.openWorld(file, { create });
      worlds.push(world);
      const { waker, ...rest } = options;
      const harness = createHarness({
        // The world came from this very app, whose type of world is lost in a list of apps.
        agent: app.agent(world as never, Date.now),
        model: app.offlineModel(world as never),
        ...rest,
        ...(waker === undefined ? {} : { waker }),
        ...(app.prices && { prices: app.prices }),
      });
      apps.set(name, { name, description: app.description, harness, labelOf: (code) => labelOf(harness.agent, code) });
      principals.set(name, app.defaultPrincipal);
    }
  } catch (error) {
    close();
    throw error;
  }
  return { apps, principals, [Symbol.dispose]: close };
}

/**
 * The agent's word for the code of a termination. An agent names whole terminations; of the index only the code is
 * known, which is all that a name may depend on.
 */
function labelOf({ label }: ServedApp["harness"]["agent"], code: string): string {
  if (label === undefined) return code;
  const [kind = "", detail = ""] = code.split(":", 2);
  const blank = { detail: "", callId: "", ruleId: "", approvalId: "", by: "", code: detail };
  const limits = ["max_steps", "token_budget", "cost_budget", "wall_clock", "repeated_call", "cycle", "invalid_calls"];
  const isLimit = [...limits, "unreadable_replies"].includes(kind);
  return label({ ...blank, ...(isLimit ? { kind: "limit", limit: kind } : { kind }) } as unknown as Parameters<
    typeof label
  >[0]);
}

/** Serves the wake-ups that all processes of a project share, each with the app of its run. */
export async function driveShared(
  apps: ReadonlyMap<string, ServedApp>,
  store: Store,
  waker: Waker,
  onError: (run: RunKey, error: unknown) => void,
): Promise<{ close(): Promise<void> }> {
  const stop = new AbortController();
  const serving = await waker.serve(async ({ run }, signal) => {
    const row = await store.run(run);
    const app = [...apps.values()].find(({ harness }) => harness.agent.name === row?.agent);
    try {
      await app?.harness.advance(run, { signal });
    } catch (error) {
      onError(run, error);
      throw error;
    }
  });
  for (const { harness } of apps.values()) await harness.recover({ signal: stop.signal });
  return {
    close: async () => {
      stop.abort();
      await serving.close();
    },
  };
}
