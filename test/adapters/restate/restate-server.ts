import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * A real Restate server for one test file, on free ports of 127.0.0.1, with its data in a temporary folder.
 *
 * The server is not a dependency of Belay: it weighs 80 MB and its licence is the Business Source License 1.1.
 */
export interface PrivateRestate extends AsyncDisposable {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  /** SIGKILL; what it had is left as it is. */
  kill(): Promise<void>;
  /** Starts it again over the same data and ports. */
  restart(): Promise<void>;
}

const VERSION = "1.7.12";
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/belay/restate-server", import.meta.url));
const INSTALL_TIMEOUT_MS = 180_000;
const START_TIMEOUT_MS = 60_000;

/** The program, installed at the first use; else why there is none, in one line. */
export async function restateProgram(): Promise<{ readonly program: string } | { readonly missing: string }> {
  const platform = `${process.platform}-${process.arch}`;
  const program = join(CACHE, "node_modules", "@restatedev", `restate-server-${platform}`, "bin", "restate-server");
  if (existsSync(program)) return { program };
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "package.json"), '{ "private": true }\n');
  const words = ["install", "--prefix", CACHE, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  try {
    await promisify(execFile)("npm", [...words, `@restatedev/restate-server@${VERSION}`], {
      cwd: CACHE,
      timeout: INSTALL_TIMEOUT_MS,
    });
  } catch {
    return { missing: `npm could not install @restatedev/restate-server ${VERSION}` };
  }
  return existsSync(program) ? { program } : { missing: `Restate ${VERSION} has no server for ${platform}` };
}

export async function startRestate(program: string): Promise<PrivateRestate> {
  const folder = mkdtempSync(join(tmpdir(), "belay-restate-"));
  const [ingress = 0, admin = 0, node = 0] = await Promise.all([freePort(), freePort(), freePort()]);
  const config = join(folder, "restate.toml");
  writeFileSync(config, configuration(folder, ingress, admin, node));
  const adminUrl = `http://127.0.0.1:${admin}`;
  const start = () => startServer(program, config, adminUrl);
  let server = await start();
  const end = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
    if (server.exitCode === null && server.signalCode === null) {
      const ended = once(server, "exit");
      server.kill(signal);
      await ended;
    }
  };
  const atExit = (): void => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", atExit);
  return {
    ingressUrl: `http://127.0.0.1:${ingress}`,
    adminUrl,
    kill: () => end("SIGKILL"),
    restart: async () => {
      await end("SIGTERM");
      server = await start();
    },
    [Symbol.asyncDispose]: async () => {
      process.off("exit", atExit);
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** `disable-telemetry` is Restate's own switch for what it would tell its makers. */
function configuration(folder: string, ingress: number, admin: number, node: number): string {
  return [
    `base-dir = "${join(folder, "data")}"`,
    'node-name = "belay-test"',
    'bind-ip = "127.0.0.1"',
    'advertised-host = "127.0.0.1"',
    `bind-port = ${node}`,
    'listen-mode = "tcp"',
    "disable-telemetry = true",
    'shutdown-timeout = "3s"',
    "default-num-partitions = 4",
    'rocksdb-total-memory-size = "256 MiB"',
    'log-filter = "error"',
    "[admin]",
    `bind-address = "127.0.0.1:${admin}"`,
    "disable-web-ui = true",
    "[ingress]",
    `bind-address = "127.0.0.1:${ingress}"`,
    "",
  ].join("\n");
}

async function startServer(program: string, config: string, adminUrl: string): Promise<ChildProcess> {
  const server = spawn(program, ["--no-logo", "-c", config], { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-4000);
    });
  }
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (server.exitCode === null && server.signalCode === null && Date.now() < deadline) {
    const isUp = await fetch(`${adminUrl}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return server;
    await sleep(50);
  }
  server.kill("SIGKILL");
  throw new Error(`Restate did not start. Its log:\n${log}`);
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
