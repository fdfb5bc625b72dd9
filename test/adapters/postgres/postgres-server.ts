import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { POSTGRES_REMEDY, postgresFolder } from "../../../scripts/ensure-postgres.ts";

/** A real server for one test file, on a free port of 127.0.0.1, with its data in a temporary folder. */
export interface PrivatePostgres extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Ends the server as `pg_ctl -m immediate` does: without a checkpoint. Its data stay. */
  stop(): Promise<void>;
  /** SIGKILL of the server's first process; what it had is left as it is. */
  kill(): Promise<void>;
  /** Starts it again over the same data and port, after `stop`, `kill` or while it runs. */
  restart(): Promise<void>;
}

export interface PostgresOptions {
  /** Lines of configuration besides ours, such as `{ fsync: "off" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

const START_TIMEOUT_MS = 60_000;

/** Starts a server; `await using` or `[Symbol.asyncDispose]()` ends it and removes its folder. */
export async function startPostgres({ settings = {} }: PostgresOptions = {}): Promise<PrivatePostgres> {
  const programs = postgresFolder();
  if (programs === undefined) {
    throw new Error(`PostgreSQL is not installed: ${POSTGRES_REMEDY}.`);
  }
  const folder = mkdtempSync(join(tmpdir(), "belay-postgres-"));
  const data = join(folder, "data");
  if (isRoot()) {
    execFileSync("chown", ["postgres", folder]);
  }
  execAs(
    folder,
    join(programs, "initdb"),
    "-D",
    data,
    "-U",
    "belay",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--no-sync",
    "--locale=C.UTF-8",
  );
  const port = await freePort();
  const url = `postgres://belay@127.0.0.1:${port}/postgres`;
  const all = { ...DEFAULTS, ...settings, listen_addresses: "127.0.0.1", unix_socket_directories: folder };
  const words = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const start = () => startServer(folder, url, [join(programs, "postgres"), "-D", data, "-p", String(port), ...words]);
  let server = await start();
  // The last resort of a test that is torn down without its hooks.
  const atExit = (): void => {
    server.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);
  const end = async (signal: "SIGQUIT" | "SIGKILL"): Promise<void> => {
    if (server.exitCode === null && server.signalCode === null) {
      const ended = once(server, "exit");
      server.kill(signal);
      await ended;
    }
  };
  const stop = () => end("SIGQUIT");
  return {
    url,
    port,
    stop,
    kill: () => end("SIGKILL"),
    restart: async () => {
      await stop();
      server = await start();
    },
    [Symbol.asyncDispose]: async () => {
      process.off("exit", atExit);
      await stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

const DEFAULTS = { max_connections: "200", shared_buffers: "32MB", log_min_messages: "warning" };

/** After SIGKILL the other processes of the old server need a moment to notice; until then it does not start. */
async function startServer(folder: string, url: string, words: readonly string[]): Promise<ChildProcess> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  let log = "";
  while (Date.now() < deadline) {
    const [program = "", ...rest] = asServerUser(folder, words);
    const server = spawn(program, rest, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    server.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-4000);
    });
    if (await answers(server, url, deadline)) {
      return server;
    }
    await sleep(100);
  }
  throw new Error(`PostgreSQL did not start within ${START_TIMEOUT_MS} ms. Its log:\n${log}`);
}

async function answers(server: ChildProcess, url: string, deadline: number): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url });
    // Without a listener a connection that breaks later would end the process.
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("SELECT 1");
      return true;
    } catch {
      await sleep(20);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  return false;
}

function execAs(folder: string, ...words: readonly string[]): void {
  const [program = "", ...rest] = asServerUser(folder, words);
  execFileSync(program, rest, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
}

/** The server refuses to run as root; started this way it also ends with the process that started it. */
function asServerUser(folder: string, words: readonly string[]): readonly string[] {
  if (!isRoot()) {
    return words;
  }
  const user = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig", "SIGQUIT"];
  return ["setpriv", ...user, "env", `HOME=${folder}`, ...words];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
