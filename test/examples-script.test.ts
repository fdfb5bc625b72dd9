import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const FOLDER = join(import.meta.dirname, "../examples");

function run(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--conditions=belay-source", ...args], { timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr }),
    );
  });
}

it("the script that runs all examples fails when one is off, and runs the others all the same", async () => {
  const folder = mkdtempSync(join(tmpdir(), "belay-examples-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  copyFileSync(join(FOLDER, "run-all.mjs"), join(folder, "run-all.mjs"));
  writeFileSync(join(folder, "a.ts"), "process.exitCode = 3;");
  writeFileSync(join(folder, "b.ts"), "process.stdout.write('b ran');");
  const one = await run(join(folder, "run-all.mjs"));
  expect([one.code, one.output]).toEqual([1, expect.stringMatching(/a\.ts ended with 3.*b ran.*1 of 2 examples/s)]);
  rmSync(join(folder, "a.ts"));
  expect((await run(join(folder, "run-all.mjs"))).code).toBe(0);
}, 60_000);

it("the real model contacts no other machine without a flag", async () => {
  const { code, output } = await run(join(FOLDER, "real-model.ts"), "--base-url", "http://192.0.2.1/v1");
  expect([code, output]).toEqual([2, expect.stringContaining("--allow-network")]);
});
