import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { createHarness } from "../../src/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";
import courier from "./fixtures/courier.ts";

const TIMEOUT_MS = 60_000;
const FROM_SOURCE = ["--conditions=belay-source", fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url))];
const COURIER = pathToFileURL(join(import.meta.dirname, "fixtures/courier.ts")).href;
const CONFIG = `export default { apps: { courier: () => import(${JSON.stringify(COURIER)}) } };
`;

export function courierFolder(): string {
  return makeFolder({ "belay.config.mjs": CONFIG });
}

/** Starts the program and gives its process, its output so far, and how it ended. */
export function start(cwd: string, args: readonly string[], program: readonly string[] = FROM_SOURCE) {
  const { NODE_OPTIONS: _1, BELAY_DEBUG: _2, ...env } = process.env;
  const child = spawn(process.execPath, [...program, ...args], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, text: () => text, ended };
}

export function told(folder: string): readonly string[] {
  const file = join(folder, ".belay/courier.db");
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}

export async function runOf(folder: string): Promise<{ readonly runId: string; readonly status: string }> {
  const [row] = jsonOf<{ runId: string; status: string }[]>(await belay(folder, ["runs", "--json"]));
  if (row === undefined) throw new Error("no run");
  return row;
}

export const begun = (folder: string) =>
  expect.poll(() => told(folder), { timeout: 20_000, interval: 20 }).toContain("begin 1");

/** Records the start of a run, which a worker finds. */
export async function startRun(folder: string, input: string): Promise<void> {
  mkdirSync(join(folder, ".belay"), { recursive: true });
  await using store = await openSqliteStore(join(folder, ".belay/belay.db"));
  const world = courier.openWorld(join(folder, ".belay/courier.db"));
  const agent = courier.agent(world, Date.now);
  await createHarness({ agent, model: courier.offlineModel(world), store }).start(input);
}

/** What a program that drives runs does when it is told to end. `program`: arguments of Node that start it. */
export function itStopsInOrder(command: readonly string[], program: readonly string[] = FROM_SOURCE): void {
  it(
    `belay ${command[0]} finishes the call that is under way and ends with 0`,
    async () => {
      const folder = courierFolder();
      await startRun(folder, "ship 1500");
      const running = start(folder, command, program);
      await begun(folder);
      running.child.kill("SIGTERM");
      expect(await running.ended).toBe(0);
      expect(running.text()).not.toContain("Not everything");
      expect(told(folder)).toEqual(["begin 1", expect.stringContaining("shipped")]);
      expect((await runOf(folder)).status).toBe("running");
      expect((await belay(folder, ["recover"])).stdout).toContain("done");
      expect(told(folder)).toHaveLength(2);
    },
    TIMEOUT_MS,
  );

  it(
    `belay ${command[0]} gives up at the end of its grace, ends with 0, and leaves an intact store`,
    async () => {
      const folder = courierFolder();
      await startRun(folder, "ship 50000");
      const running = start(folder, [...command, "--grace", "1"], program);
      await begun(folder);
      running.child.kill("SIGTERM");
      expect(await running.ended).toBe(0);
      expect(running.text()).toContain("Not everything came to an end in 1 s");
      expect(told(folder)).toEqual(["begin 1"]);
      expect((await runOf(folder)).status).toBe("running");
      expect((await belay(folder, ["audit", "verify"])).code).toBe(0);
    },
    TIMEOUT_MS,
  );
}
