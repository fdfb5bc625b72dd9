import type { Waker } from "../engine/index.ts";
import type { Store } from "../journal/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, DATABASE_OPTIONS } from "./command.ts";
import { advanceWake, keepSweeping, watchApps } from "./drive-wakes.ts";
import { allowsOtherModel, chosenModel, MODEL_OPTIONS, OTHER_MODEL_OPTION } from "./model-option.ts";
import { drained, untilShutdown } from "./on-shutdown.ts";
import { placeOf } from "./place.ts";
import { projectConfig } from "./project.ts";
import { openWorkerApps, type WorkerApps } from "./worker-apps.ts";
import { loadPeer, WORKER_OPTIONS, type WorkerSettings, workerSettings } from "./worker-options.ts";

// What is told to stop when the grace is over still has to write down how far it came.
const GIVE_BACK_MS = 5000;

export const workerCommand: Command = {
  name: "worker",
  summary: "drive the runs in a PostgreSQL database; start as many as you like, on as many machines",
  positionals: [],
  options: { ...WORKER_OPTIONS, ...MODEL_OPTIONS, ...OTHER_MODEL_OPTION, db: DATABASE_OPTIONS.db, ...CONFIG_OPTIONS },
  examples: [
    "worker --postgres postgres://belay@db.internal/belay",
    "worker --waker restate --restate-deployment http://workers.internal:9080",
  ],
  run: async (input) => {
    const settings = workerSettings(input, process.env);
    const config = await projectConfig(input);
    const chosen = await chosenModel(input);
    const { createPostgresStore } = await loadPeer(() => import("../adapters/postgres/index.ts"));
    await using store = await createPostgresStore({ connectionString: settings.postgres });
    await using waker = await openWaker(settings, input);
    const onAlarm = input.output.progress;
    const { leaseMs } = settings;
    const seams = { store, waker, leaseMs, chosen, onAlarm, allowOtherModel: allowsOtherModel(input) };
    using apps = await openWorkerApps(config, placeOf(input), seams);
    await work(input, settings, store, waker, apps);
    return 0;
  },
};

async function work(
  { output, signal }: CommandInput,
  { graceMs, leaseMs }: WorkerSettings,
  store: Store,
  waker: Waker,
  apps: WorkerApps,
): Promise<void> {
  // Not the waker's own signal, which says that it takes no more: what is under way may end within the grace.
  const late = afterGrace(signal, graceMs);
  const serving = await waker.serve(async ({ run }) => {
    if (!(await advanceWake(store, apps.harnessOf, run, late))) throw new Error("not to be gone on with here, now");
  });
  const driven = { store, agents: apps.agents, onAlarm: output.progress };
  keepSweeping(driven, waker, leaseMs, { signal });
  watchApps(driven, signal);
  output.progress("Working. SIGTERM or Ctrl-C stops it when what it does is done; a second one stops it at once.");
  await untilShutdown(signal);
  output.progress("Stopping: no new work; what is under way is finished or given back.");
  await drained(serving.close(), signal, graceMs + GIVE_BACK_MS);
}

/** Aborts when the grace is over that begins with the abort of `stop`. */
function afterGrace(stop: AbortSignal, graceMs: number): AbortSignal {
  const controller = new AbortController();
  const begin = (): void => {
    setTimeout(() => controller.abort(), graceMs).unref();
  };
  if (stop.aborted) begin();
  else stop.addEventListener("abort", begin, { once: true });
  return controller.signal;
}

async function openWaker(
  { postgres, concurrency, waker }: WorkerSettings,
  { output }: CommandInput,
): Promise<Waker & AsyncDisposable> {
  if (waker !== "pg-boss") {
    const { createRestateWaker } = await loadPeer(() => import("../adapters/restate/index.ts"));
    const created = createRestateWaker({ ...waker, concurrency });
    return { ...created, [Symbol.asyncDispose]: async () => undefined };
  }
  const { createPgBossWaker } = await loadPeer(() => import("../adapters/postgres/index.ts"));
  return createPgBossWaker({
    connectionString: postgres,
    concurrency,
    onAlarm: (alarm) =>
      output.progress(
        alarm.code === "WAKE_STUCK"
          ? `WAKE_STUCK: the wake of the run ${alarm.wake.run.runId} has failed ${alarm.attempts} times and goes on coming`
          : "WAKER_UNREACHABLE: PostgreSQL does not answer; the worker goes on trying",
      ),
  });
}
