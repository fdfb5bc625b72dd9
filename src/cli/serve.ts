import type { Person } from "../config.ts";
import type { Agent } from "../engine/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  PLACE_OPTIONS,
  textOption,
} from "./command.ts";
import { watchApps } from "./drive-wakes.ts";
import { MODEL_OPTIONS, OTHER_MODEL_OPTION } from "./model-option.ts";
import { drained, SHUTDOWN_GRACE_MS, untilShutdown } from "./on-shutdown.ts";
import { postgresAddress } from "./postgres-place.ts";
import { driveShared } from "./serve-apps.ts";
import { evaluateDemo, playDemo } from "./serve-demo.ts";
import { checkReachable, type HttpServer, resultsFolder, startHttp } from "./serve-http.ts";
import { type ServedProject, withProject } from "./serve-project.ts";
import { usageError, wholeNumber } from "./usage.ts";

const PORT_DEFAULT = "4180";
const PORT_MAX = 65_535;
const GRACE_SECONDS_MAX = 3600;
const GRACE_OPTION = {
  grace: { type: "string", value: "s", help: "seconds for what is under way when told to stop (default 10)" },
} as const;

export const serveCommand: Command = {
  name: "serve",
  summary: "serve the API and the console and drive the runs; for this machine alone unless told otherwise",
  positionals: [],
  options: {
    port: { type: "string", value: "n", help: `port to listen on, 0 for any (default ${PORT_DEFAULT})` },
    host: { type: "string", value: "address", help: "address to listen on (default 127.0.0.1; another needs people)" },
    origin: { type: "string", value: "url", help: "address by which people reach it, when that is another" },
    proxy: { type: "string", value: "a,b", help: "addresses or ranges of proxies whose X-Forwarded-* are believed" },
    results: {
      type: "string",
      value: "folder",
      help: "stored evaluation results (default results beside the database)",
    },
    ...MODEL_OPTIONS,
    ...OTHER_MODEL_OPTION,
    ...GRACE_OPTION,
    "no-worker": { type: "boolean", help: "drive no runs here; belay work does, in another process" },
    log: { type: "boolean", help: "print each request as a line of JSON on stderr" },
    "key-file": { type: "string", value: "file", help: "key that signs checkpoints (default audit-key.pem there too)" },
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "serve",
    "serve --port 8080 --db /var/lib/belay/belay.db",
    "serve --host 0.0.0.0 --origin https://belay.example.com --proxy 10.0.0.2 --no-worker",
    "serve --model openai:gpt-5-mini --allow-network --price-input 0.25 --price-output 2",
  ],
  run: async (input) => {
    const port = wholeNumber("--port", textOption(input, "port") ?? PORT_DEFAULT, 0, PORT_MAX);
    const graceMs = graceOption(input);
    const isShared = hasFlag(input, "no-worker");
    return withProject(input, isShared, async (project) => {
      checkReachable(project);
      // Before the demonstration, so that a port that is taken is told at once.
      const http = await startHttp(project, port);
      try {
        await serve(project, http, { isShared, graceMs });
      } finally {
        await http.close();
      }
    });
  },
};

export const workCommand: Command = {
  name: "work",
  summary: "drive the runs of a server that was started with --no-worker",
  positionals: [],
  options: { ...MODEL_OPTIONS, ...OTHER_MODEL_OPTION, ...GRACE_OPTION, ...PLACE_OPTIONS, ...CONFIG_OPTIONS },
  examples: ["work", "work --db /var/lib/belay/belay.db"],
  run: (input) => {
    const graceMs = graceOption(input);
    if (postgresAddress(input) !== undefined) {
      throw usageError("Runs in PostgreSQL are driven by belay worker, which shares the wake-ups of the server there.");
    }
    return withProject(input, true, async ({ served, store, waker, onError, stop }) => {
      if (waker === undefined) return;
      // Going through what a crash left may take long, and a stop reaches that too.
      const driving = driveShared(served.apps, store, waker, { onError, onAlarm: input.output.progress, signal: stop });
      input.output.progress("Working. SIGTERM or Ctrl-C stops it when what it does is done.");
      await Promise.race([untilShutdown(stop), failureOf(driving)]);
      await finish(
        input,
        driving.then((serving) => serving.close()),
        graceMs,
      );
    });
  },
};

interface ServeSettings {
  /** Another process drives the runs. */
  readonly isShared: boolean;
  readonly graceMs: number;
}

async function serve(project: ServedProject, http: HttpServer, { isShared, graceMs }: ServeSettings): Promise<void> {
  const { input, config, place, served, store, people, database, server, stop } = project;
  const { demo = [] } = config;
  const isNew = !isShared && (await playDemo(served, store, place.tenant, demo, input.output));
  project.pace();
  const { approvals = [] } = config;
  await server.recoverVotes({ store, apps: served.apps, clock: CLOCK, people, database, approvals });
  // Nobody may be driving them elsewhere.
  if (isShared) watchApps({ store, agents: agentsOf(served), onAlarm: input.output.progress }, stop);
  // Going through what a crash left may take long; people are let in meanwhile.
  const working = Promise.all(
    isShared ? [] : [...served.apps.values()].map(({ harness }) => harness.work({ signal: stop })),
  );
  const close = async (): Promise<void> => {
    await Promise.all((await working).map((worker) => worker.close()));
  };
  try {
    announce(project, http);
    const evaluating = isNew ? evaluateDemo(config, resultsFolder(project), stop) : undefined;
    await Promise.race([untilShutdown(stop), failureOf(working)]);
    input.output.progress("Stopping: no new requests, what is being done is finished.");
    // Beside each other: a worker begins nothing new from now on, and who waits for an answer still gets it.
    await finish(input, Promise.all([http.close(), close(), evaluating]), graceMs);
  } catch (error) {
    await finish(input, close(), graceMs);
    throw error;
  }
}

function agentsOf({ apps }: ServedProject["served"]): readonly Agent[] {
  return [...apps.values()].map(({ harness }) => harness.agent);
}

/** Rejects when the workers could not be started. */
async function failureOf(working: Promise<unknown>): Promise<never> {
  await working;
  return new Promise(() => undefined);
}

function graceOption(input: CommandInput): number {
  const seconds = textOption(input, "grace");
  return seconds === undefined ? SHUTDOWN_GRACE_MS : wholeNumber("--grace", seconds, 0, GRACE_SECONDS_MAX) * 1000;
}

/** Lets what is under way come to its end, for as long as a stopping process may take. */
async function finish(input: CommandInput, work: Promise<unknown>, graceMs: number): Promise<void> {
  const { status } = await drained(work, AbortSignal.abort(), graceMs);
  if (status === "given_up") {
    input.output.progress(`Not everything came to an end in ${graceMs / 1000} s; the next worker goes on with it.`);
  }
}

const CLOCK = { now: Date.now };

/** Links go to a terminal of this machine alone; elsewhere the output of a server ends in logs. */
function announce({ input: { output }, config, place, people }: ServedProject, http: HttpServer): void {
  output.line();
  output.line({ text: http.origin, style: "bold" });
  if (!http.isLoopback) {
    output.progress("Sign-in links: belay people link <person>");
    return;
  }
  for (const { id, name, roles } of config.people ?? []) {
    if (people.find(place.tenant, id) !== undefined) {
      output.line(
        `${name} (${rolesText(roles)}): ${http.origin}/sign-in?token=${people.issue("link", place.tenant, id)}`,
      );
    }
  }
  output.line("Each link works once, for 15 minutes. New ones: belay people link <person>. Stop with Ctrl-C.");
}

function rolesText(roles: Person["roles"]): string {
  return roles.join(", ");
}
