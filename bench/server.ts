/**
 * `node bench/server.ts` after `npm run build`: the server of a process of its own, over real sockets of this machine,
 * with the shop, its offline planner and a SQLite store in a file. Client and server share the machine's cores.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadClosed, loadOpen, type Target } from "./server-load.ts";
import { line } from "./support.ts";

const SECONDS = Number(process.env["BELAY_BENCH_SECONDS"] ?? "10");
const WARM_SECONDS = 3;
const HALF_PER_SECOND = 150;
/** `BELAY_BENCH_PROFILE=folder` writes a CPU profile of each server there. */
const PROFILE_FOLDER = process.env["BELAY_BENCH_PROFILE"];
const PROFILE = PROFILE_FOLDER === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE_FOLDER}`];
const SUBSCRIBERS = 1000;
const PENDING = 100_000;
const INBOX_REQUESTS = 30;

interface Ready {
  readonly port: number;
  readonly token: string;
  readonly session: string;
  readonly waitingRun: string;
  readonly recoverMs: number;
}

interface Use {
  /** Resident, after a collection. */
  readonly memoryMb: number;
  /** Processor time of the server since its start; says what a busy machine hides. */
  readonly cpuMs: number;
}

interface Server {
  readonly child: ChildProcess;
  readonly ready: Ready;
  use(): Promise<Use>;
  stop(): Promise<void>;
}

async function startServer(mode: "work" | "inbox" | "raw"): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-server-"));
  const program = new URL(mode === "raw" ? "server-raw.ts" : "server-child.ts", import.meta.url);
  const child = fork(program, [folder, mode, String(PENDING)], {
    execArgv: [...process.execArgv, "--expose-gc", ...PROFILE],
  });
  const answer = <Value>(): Promise<Value> =>
    new Promise((resolve, reject) => {
      child.once("message", (value) => resolve(value as Value));
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
  const ready = await answer<Ready>();
  return {
    child,
    ready,
    use: () => {
      const reply = answer<Use>();
      child.send("use");
      return reply;
    },
    stop: async () => {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.disconnect();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function target({ port, token }: Pick<Ready, "port" | "token">): Target {
  return {
    port,
    path: "/v1/runs",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=30" },
    body: JSON.stringify({ app: "shop", input: "Hi, where is my order O-1002?", customer: "C-02" }),
  };
}

async function benchRuns(): Promise<void> {
  const server = await startServer("work");
  await loadClosed(target(server.ready), WARM_SECONDS);
  const before = await server.use();
  const full = await loadClosed(target(server.ready), SECONDS);
  const cpuMs = (await server.use()).cpuMs - before.cpuMs;
  const finished = full.ok / full.seconds;
  line("runs started and finished over HTTP (200 answers)", `${finished.toFixed(0)} /s`, "aim: at least 300");
  line("  processor time of the server for each", `${(cpuMs / full.ok).toFixed(2)} ms`);
  line("  others than 200", String(full.others));
  const half = await loadOpen(target(server.ready), HALF_PER_SECOND, SECONDS);
  line(`p99 at ${HALF_PER_SECOND} /s, open loop`, `${half.p99Ms.toFixed(0)} ms`, "aim: under 250");
  line("  p50, most", `${half.p50Ms.toFixed(0)} ms, ${half.mostMs.toFixed(0)} ms`);
  line("  others than 200", String(half.others));
  await server.stop();
}

/** The same load on a bare route with a bare insert: what no server over these parts can exceed. */
async function benchRaw(): Promise<void> {
  const server = await startServer("raw");
  const raw = target({ port: server.ready.port, token: "none" });
  await loadClosed(raw, WARM_SECONDS);
  const before = await server.use();
  const full = await loadClosed(raw, SECONDS);
  const cpuMs = (await server.use()).cpuMs - before.cpuMs;
  line("a bare route of Hono with one durable SQLite insert", `${(full.ok / full.seconds).toFixed(0)} /s`);
  line("  processor time of the server for each", `${(cpuMs / full.ok).toFixed(2)} ms`);
  const half = await loadOpen(raw, HALF_PER_SECOND, SECONDS);
  line(`  p99 at ${HALF_PER_SECOND} /s, open loop`, `${half.p99Ms.toFixed(0)} ms`);
  await server.stop();
}

async function benchSubscribers(): Promise<void> {
  const server = await startServer("work");
  const before = (await server.use()).memoryMb;
  const { port, token, waitingRun } = server.ready;
  const requests = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => subscribe(port, token, waitingRun)));
  const during = (await server.use()).memoryMb;
  line(`resident memory with ${SUBSCRIBERS} event streams`, `${during.toFixed(0)} MB`, "aim: under 300");
  line("  without any", `${before.toFixed(0)} MB`);
  for (const request of requests) request.destroy();
  await server.stop();
}

/** Resolves when the first event has come. */
function subscribe(port: number, token: string, runId: string): Promise<ReturnType<typeof get>> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = get({ port, path: `/v1/runs/${runId}/events`, headers, agent: false }, (response) => {
      response.once("data", () => resolve(request));
      response.resume();
    });
    request.on("error", reject);
  });
}

async function benchInbox(): Promise<void> {
  const server = await startServer("inbox");
  const { port, token, session, recoverMs } = server.ready;
  const origin = `http://127.0.0.1:${port}`;
  const asApi = { authorization: `Bearer ${token}` };
  const api = await medianMs(`${origin}/v1/approvals?status=pending&limit=50`, asApi);
  line(`first page of ${PENDING} open questions, API`, `${api.toFixed(1)} ms`, "aim: under 200");
  const page = await medianMs(`${origin}/approvals`, { cookie: `belay_session=${session}` });
  line("  the console's inbox", `${page.toFixed(1)} ms`, "aim: under 200");
  line("  going through them all at a start (recover)", `${(recoverMs / 1000).toFixed(1)} s`);
  await server.stop();
}

async function medianMs(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const timings: number[] = [];
  for (let count = 0; count < INBOX_REQUESTS; count += 1) {
    const start = performance.now();
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
    timings.push(performance.now() - start);
  }
  timings.sort((one, other) => one - other);
  return timings[Math.floor(timings.length / 2)] ?? Number.NaN;
}

const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
if (isWanted("raw")) await benchRaw();
if (isWanted("runs")) await benchRuns();
if (isWanted("subscribers")) await benchSubscribers();
if (isWanted("inbox")) await benchInbox();
