import type { Person } from "../config.ts";
import { CONFIG_OPTIONS, type Command, DATABASE_OPTIONS, hasFlag, textOption } from "./command.ts";
import { driveShared } from "./serve-apps.ts";
import { playDemo } from "./serve-demo.ts";
import { checkReachable, type HttpServer, startHttp } from "./serve-http.ts";
import { type ServedProject, stopped, withProject } from "./serve-project.ts";
import { wholeNumber } from "./usage.ts";

const PORT_DEFAULT = "4180";
const PORT_MAX = 65_535;

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
  ],
  run: async (input) => {
    const port = wholeNumber("--port", textOption(input, "port") ?? PORT_DEFAULT, 0, PORT_MAX);
    const isShared = hasFlag(input, "no-worker");
    return withProject(input, isShared, async (project) => {
      checkReachable(project);
      // Before the demonstration, so that a port that is taken is told at once.
      const http = await startHttp(project, port);
      try {
        await serve(project, http, isShared);
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
  options: { ...DATABASE_OPTIONS, ...CONFIG_OPTIONS },
  examples: ["work", "work --db /var/lib/belay/belay.db"],
  run: (input) =>
    withProject(input, true, async ({ served, store, waker, onError, stop }) => {
      if (waker === undefined) return;
      const driving = await driveShared(served.apps, store, waker, onError);
      input.output.progress("Working. SIGTERM or Ctrl-C stops it when what it does is done.");
      await stopped(stop);
      await driving.close();
    }),
};

async function serve(project: ServedProject, http: HttpServer, isShared: boolean): Promise<void> {
  const { input, config, place, served, store, people, database, server, stop } = project;
  if (!isShared) await playDemo(served, store, place.tenant, config.demo ?? [], input.output);
  const { approvals = [] } = config;
  await server.recoverVotes({ store, apps: served.apps, clock: CLOCK, people, database, approvals });
  // Going through what a crash left may take long; people are let in meanwhile.
  const working = Promise.all(isShared ? [] : [...served.apps.values()].map(({ harness }) => harness.work()));
  try {
    announce(project, http);
    await Promise.all([working, stopped(stop)]);
    input.output.progress("Stopping: no new requests, what is being done is finished.");
    // Before the workers: who waits for an answer still gets it.
    await http.close();
  } finally {
    for (const worker of await working) await worker.close();
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
