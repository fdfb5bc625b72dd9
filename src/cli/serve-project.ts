import { createSqliteWaker } from "../adapters/sqlite/index.ts";
import type { Waker } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, Store } from "../journal/index.ts";
import type { LiveRuns, PeopleStore, ServerDatabase } from "../server/index.ts";
import type { CommandInput } from "./command.ts";
import type { LoadedConfig } from "./load-config.ts";
import { allowsOtherModel, chosenModel } from "./model-option.ts";
import { createStore, type Place, placeOf } from "./place.ts";
import { loadPostgres } from "./postgres-place.ts";
import { projectConfig } from "./project.ts";
import { openApps, type ServedApps } from "./serve-apps.ts";
import { loadServer, openPeople, type ServerModule } from "./server-place.ts";

/** How often to look for what a worker of another process wrote. */
const POLL_MS_SHARED = 500;

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
  readonly live: LiveRuns;
  /** From now on offline models write at the speed at which people read. */
  readonly pace: () => void;
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
      await using waker = isShared ? await openWaker(input, place, store) : undefined;
      const shared = waker === undefined ? {} : { waker };
      const onError = errorPrinter(input);
      // Whoever has the address of a PostgreSQL database may work there.
      const isOthersToo = isShared || place.postgres !== undefined;
      const live = server.createLiveRuns(store, { onError, ...(isOthersToo && { pollMs: POLL_MS_SHARED }) });
      let isPaced = false;
      using served = await openApps(config, place, {
        store,
        mayDecide: server.createDecisionGuard(people, config.approvals),
        onAlarm: ({ code, detail }) => input.output.progress(`${code}: ${detail}`),
        onDelta: live.tell,
        chosen: await chosenModel(input),
        allowOtherModel: allowsOtherModel(input),
        isPaced: () => isPaced,
        ...shared,
      });
      const pace = (): void => {
        isPaced = true;
      };
      try {
        const opened = { input, server, config, place, store, database, people, served, live };
        await work({ ...opened, stop: input.signal, onError, pace, ...shared });
      } finally {
        await live.close();
      }
    } finally {
      database.close();
    }
  } finally {
    await store.close();
  }
  return 0;
}

/** The wake-ups that server and workers of a project share, where its runs are. */
async function openWaker({ output }: CommandInput, place: Place, store: Store): Promise<Waker & AsyncDisposable> {
  if (place.postgres === undefined) {
    return { ...createSqliteWaker(store), [Symbol.asyncDispose]: async () => undefined };
  }
  const { createPgBossWaker } = await loadPostgres();
  return createPgBossWaker({
    connectionString: place.postgres,
    onAlarm: ({ code }) => output.progress(`${code}: see belay doctor`),
  });
}

function errorPrinter({ output }: CommandInput): ServedProject["onError"] {
  return ({ runId }, error) => {
    const what = error instanceof BelayError ? error.code : error instanceof Error ? error.name : typeof error;
    const more = process.env["BELAY_DEBUG"] === "1" && error instanceof Error ? `: ${error.stack}` : "";
    output.progress(`run ${runId} could not go on (${what})${more}`);
  };
}
