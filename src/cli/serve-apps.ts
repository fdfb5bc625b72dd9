import type { Principal } from "../core/index.ts";
import { createHarness, type Harness, type HarnessOptions, type Waker } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, Store } from "../journal/index.ts";
import type { ServedApp } from "../server/index.ts";
import { advanceWake, keepSweeping, watchApps } from "./drive-wakes.ts";
import type { LoadedConfig } from "./load-config.ts";
import type { ChosenModel } from "./model-option.ts";
import { type OpenedApp, openWorlds, worldFile } from "./open-worlds.ts";
import { pacedModel } from "./paced-model.ts";
import type { Place } from "./place.ts";
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
  /** Told of what models write. */
  readonly onDelta: NonNullable<HarnessOptions["onDelta"]>;
  /** Wake-ups that other processes see; absent: of this process alone. */
  readonly waker?: Waker;
  /** A real model in the place of every app's offline one. */
  readonly chosen?: ChosenModel | undefined;
  /** Goes on with runs of another model than the app's or the chosen one. */
  readonly allowOtherModel: boolean;
  /** Asked at each reply of an offline model: whether it is written at the speed at which people read. */
  readonly isPaced: () => boolean;
}

/** Opens every app of a configuration; the world of each lies beside the database. */
export async function openApps(config: LoadedConfig, place: Place, options: ServedAppsOptions): Promise<ServedApps> {
  const clash = Object.keys(config.apps).find((name) => worldFile(place, name) === place.db);
  if (clash !== undefined)
    throw usageError(`${place.db} would be the data of the app ${clash} too. Give another --db.`);
  const worlds = await openWorlds(config, place, options.store, options.chosen);
  const apps = new Map<string, ServedApp>();
  const principals = new Map<string, Principal | undefined>();
  try {
    for (const opened of worlds.apps) {
      const { name, app } = opened;
      const harness = harnessOf(opened, options);
      apps.set(name, { name, description: app.description, harness, labelOf: (code) => labelOf(harness.agent, code) });
      principals.set(name, app.defaultPrincipal);
    }
  } catch (error) {
    worlds[Symbol.dispose]();
    throw error;
  }
  return { apps, principals, [Symbol.dispose]: () => worlds[Symbol.dispose]() };
}

function harnessOf(
  { agent, model, isOffline, prices }: OpenedApp,
  { store, mayDecide, onAlarm, onDelta, waker, allowOtherModel, isPaced }: ServedAppsOptions,
): Harness {
  return createHarness({
    agent,
    model: isOffline ? pacedModel(model, isPaced) : model,
    prices,
    ...{ store, mayDecide, onAlarm, onDelta, allowOtherModel },
    ...(waker === undefined ? {} : { waker }),
  });
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
  const isLimit = [...limits, "unreadable_replies", "rejections"].includes(kind);
  return label({ ...blank, ...(isLimit ? { kind: "limit", limit: kind } : { kind }) } as unknown as Parameters<
    typeof label
  >[0]);
}

export interface SharedWorkOptions {
  /** Told of a run that could not go on. */
  readonly onError: (run: RunKey, error: unknown) => void;
  /** Told of runs that stand still. */
  readonly onAlarm: (text: string) => void;
  readonly signal: AbortSignal;
}

/** The lease of a harness that is told nothing else. */
const LEASE_MS = 15_000;

/** Serves the wake-ups that all processes of a project share, each with the app of its run. */
export async function driveShared(
  apps: ReadonlyMap<string, ServedApp>,
  store: Store,
  waker: Waker,
  { onError, onAlarm, signal: outer }: SharedWorkOptions,
): Promise<{ close(): Promise<void> }> {
  const stop = new AbortController();
  if (outer.aborted) stop.abort();
  else outer.addEventListener("abort", () => stop.abort(), { once: true });
  const harnesses = [...apps.values()].map(({ harness }) => harness);
  const harnessOf = (agent: string): Harness | undefined => harnesses.find((harness) => harness.agent.name === agent);
  const serving = await waker.serve(async ({ run }, signal) => {
    const isDone = await advanceWake(store, harnessOf, run, signal).catch((error: unknown) => {
      // Of another model an alarm has told.
      if (!isOtherModel(error)) onError(run, error);
      throw error;
    });
    if (!isDone) throw new Error("not to be gone on with here, now");
  });
  const driven = { store, agents: harnesses.map(({ agent }) => agent), onAlarm };
  watchApps(driven, stop.signal);
  for (const harness of harnesses) await harness.recover({ signal: stop.signal });
  // What a dead process holds, and what it could not send a wake for, is not gone on with above.
  keepSweeping(driven, waker, LEASE_MS, { signal: stop.signal, isLater: true });
  return {
    close: async () => {
      stop.abort();
      await serving.close();
    },
  };
}

function isOtherModel(error: unknown): boolean {
  return error instanceof BelayError && error.code === "BELAY_RUN_OTHER_MODEL";
}
