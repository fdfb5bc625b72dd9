import { createSqliteWaker } from "../adapters/sqlite/index.ts";
import type { Waker } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, Store } from "../journal/index.ts";
import type { PeopleStore, ServerDatabase } from "../server/index.ts";
import type { CommandInput } from "./command.ts";
import type { LoadedConfig } from "./load-config.ts";
import { createStore, type Place, placeOf } from "./place.ts";
import { projectConfig } from "./project.ts";
import { openApps, type ServedApps } from "./serve-apps.ts";
import { loadServer, openPeople, type ServerModule } from "./server-place.ts";

/** All that serving and working need, open. */
export interface ServedProject {
  readonly input: CommandInput;
  readonly server: ServerModule;
  readonly config: LoadedConfig;
  readonly place: Place;
  readonly store: Store;
  readonly database: ServerDatabase;
  readonly people: PeopleStore;
  readonly served: ServedApps;
  /** Wake-ups that server and workers share; absent when one process does both. */
  readonly waker?: Waker;
  /** Aborts on SIGTERM and Ctrl-C. */
  readonly stop: AbortSignal;
  /** One line for the operator; the text of an exception is shown when somebody debugs. */
  readonly onError: (run: RunKey, error: unknown) => void;
}

/** Opens a project, works with it, and closes everything in order, whatever happens. */
export async function withProject(
  input: CommandInput,
  isShared: boolean,
  work: (project: ServedProject) => Promise<void>,
): Promise<0> {
  const server = await loadServer();
  const place = placeOf(input);
  const config = await projectConfig(input);
  const store = await createStore(place);
  try {
    const { database, people } = openPeople(server, place, Object.keys(config.apps));
    try {
      people.takeConfigured(config.people ?? [], place.tenant);
      const waker = isShared ? createSqliteWaker(store) : undefined;
      using served = await openApps(config, place, {
        store,
        mayDecide: server.createDecisionGuard(database, people, config.approvals),
        onAlarm: ({ code, detail }) => input.output.progress(`${code}: ${detail}`),
        ...(waker === undefined ? {} : { waker }),
      });
      const signals = stopSignals(input.signal);
      try {
        const onError = errorPrinter(input);
        const shared = waker === undefined ? {} : { waker };
        await work({
          input,
          server,
          config,
          place,
          store,
          database,
          people,
          served,
          stop: signals.stop,
          onError,
          ...shared,
        });
      } finally {
        signals.release();
      }
    } finally {
      database.close();
    }
  } finally {
    await store.close();
  }
  return 0;
}

/** Resolves when the process is told to stop. */
export function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // A signal alone does not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    const done = (): void => {
      clearInterval(alive);
      resolve();
    };
    if (stop.aborted) done();
    else stop.addEventListener("abort", done, { once: true });
  });
}

function stopSignals(interrupted: AbortSignal): { readonly stop: AbortSignal; release(): void } {
  const terminated = new AbortController();
  const onTerm = (): void => terminated.abort();
  process.once("SIGTERM", onTerm);
  return {
    stop: AbortSignal.any([interrupted, terminated.signal]),
    release: () => void process.removeListener("SIGTERM", onTerm),
  };
}

function errorPrinter({ output }: CommandInput): ServedProject["onError"] {
  return ({ runId }, error) => {
    const what = error instanceof BelayError ? error.code : error instanceof Error ? error.name : typeof error;
    const more = process.env["BELAY_DEBUG"] === "1" && error instanceof Error ? `: ${error.stack}` : "";
    output.progress(`run ${runId} could not go on (${what})${more}`);
  };
}
