import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createPgBossWaker, createPostgresStore } from "../../src/adapters/postgres/index.ts";
import { createHarness, type Harness } from "../../src/index.ts";
import type { RunKey, Store } from "../../src/journal/index.ts";
import { describeWithPostgres, type PrivatePostgres, startPostgres } from "../adapters/postgres/private-postgres.ts";
import { belay, makeFolder } from "./belay.ts";
import courier from "./fixtures/courier.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const COURIER = pathToFileURL(join(import.meta.dirname, "fixtures/courier.ts")).href;
const CONFIG = {
  "belay.config.mjs": `export default { apps: { courier: () => import(${JSON.stringify(COURIER)}) } };\n`,
};

interface Worker {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  log(): string;
}

let postgres: PrivatePostgres;

/** Starts `belay worker` and waits until it works. */
async function startWorker(cwd: string, ...args: readonly string[]): Promise<Worker> {
  const child = spawn(process.execPath, ["--conditions=belay-source", MAIN, "worker", ...args], {
    cwd,
    env: { ...process.env, BELAY_POSTGRES: postgres.url },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = once(child, "exit");
  await until(() => log.includes("Working.") || child.exitCode !== null);
  expect(log).toContain("Working.");
  return { child, ended, log: () => log };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await condition()); waited += 20) {
    if (waited > 60_000) throw new Error("what was waited for did not come");
    await sleep(20);
  }
}

async function openOffice(): Promise<{ readonly store: Store; readonly harness: Harness }> {
  const store = await createPostgresStore({ connectionString: postgres.url });
  const waker = createPgBossWaker({ connectionString: postgres.url });
  onTestFinished(async () => {
    await waker.close();
    await store.close();
  });
  const world = courier.openWorld(":memory:");
  const agent = courier.agent(world, Date.now);
  return { store, harness: createHarness({ agent, model: courier.offlineModel(world), store, waker }) };
}

const isDone = (store: Store, run: RunKey) => async () => (await store.run(run))?.status === "done";
const linesOf = (folder: string): readonly string[] => {
  try {
    return readFileSync(join(folder, ".belay", "courier.db"), "utf8").split("\n");
  } catch {
    return [];
  }
};

describeWithPostgres("belay worker", () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 120_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  it("several drive the same runs, and SIGTERM lets each finish what it has begun", async () => {
    const folder = makeFolder(CONFIG);
    const { store, harness } = await openOffice();
    const workers = await Promise.all([startWorker(folder), startWorker(folder, "--concurrency", "2")]);
    const quick = await Promise.all(Array.from({ length: 6 }, () => harness.start("ship 10")));
    for (const run of quick) await until(isDone(store, run));
    const slow = await harness.start("ship 1500");
    const begun = linesOf(folder).length;
    await until(() => linesOf(folder).length > begun);
    for (const { child } of workers) child.kill("SIGTERM");
    for (const { ended, log } of workers) expect(await ended, log()).toEqual([0, null]);
    const lines = linesOf(folder);
    expect(lines.filter((line) => line.startsWith("shipped"))).toHaveLength(7);
    expect(lines.filter((line) => line.startsWith("begin"))).toEqual(Array.from({ length: 7 }, () => "begin 1"));
    // What is left of the run, if anything, is for the next worker.
    await startWorker(folder);
    await until(isDone(store, slow));
    expect(linesOf(folder).filter((line) => line.startsWith("begin"))).toHaveLength(7);
  }, 120_000);

  it("gives back what does not end within the grace, and another worker ends it with the same key", async () => {
    const folder = makeFolder(CONFIG);
    const { store, harness } = await openOffice();
    const worker = await startWorker(folder, "--grace", "0");
    const run = await harness.start("ship 50000");
    await until(() => linesOf(folder).includes("begin 1"));
    worker.child.kill("SIGTERM");
    expect(await worker.ended, worker.log()).toEqual([0, null]);
    await startWorker(folder);
    await until(isDone(store, run));
    const lines = linesOf(folder).filter((line) => line !== "");
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["begin", "begin", "shipped"]);
  }, 120_000);

  it("a second SIGTERM does not wait", async () => {
    const folder = makeFolder(CONFIG);
    const { harness } = await openOffice();
    const worker = await startWorker(folder, "--grace", "600");
    const run = await harness.start("ship 50000");
    await until(() => linesOf(folder).includes("begin 1"));
    worker.child.kill("SIGTERM");
    await until(() => worker.log().includes("Stopping"));
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toEqual([143, null]);
    await harness.cancel(run, { kind: "person", id: "ann" });
  }, 120_000);
});

it("belay worker says what it needs, and never shows a password", async () => {
  const folder = makeFolder(CONFIG);
  const none = await belay(folder, ["worker"], { BELAY_POSTGRES: "" });
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr).toContain("--postgres");
  const secret = "s3cr3t-pw";
  const shown: string[] = [];
  for (const url of [`postgres://ann:${secret}@127.0.0.1:1/belay`, `postgres//ann:${secret}@127.0.0.1`]) {
    const { code, stdout, stderr } = await belay(folder, ["worker", "--postgres", url]);
    expect(code).not.toBe(0);
    shown.push(stdout, stderr);
  }
  expect(shown.join()).not.toContain(secret);
  expect(shown.join()).toMatch(/BELAY_STORE_/);
  const mixed = await belay(folder, ["worker", "--postgres", "postgres://x@h/y", "--restate-admin", "http://h"]);
  expect(mixed).toMatchObject({ code: 2 });
}, 60_000);
