import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const BANK = pathToFileURL(join(import.meta.dirname, "fixtures/bank.ts")).href;

// Stripping types from the whole source takes most of a start; the cache is keyed by content, so it cannot go stale.
const COMPILE_CACHE = join(tmpdir(), "belay-test-compile-cache");

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the CLI in a process of its own. */
export function belay(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { NO_COLOR: _1, FORCE_COLOR: _2, NODE_OPTIONS: _3, BELAY_DEBUG: _4, ...inherited } = process.env;
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ["--conditions=belay-source", MAIN, ...args],
      { cwd, env: { ...inherited, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env }, maxBuffer: 1e8 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr }),
    );
  });
}

/** Makes a folder for one test, with a configuration of the bank unless another one is given. */
export function makeFolder(files: Readonly<Record<string, string>> = { "belay.config.mjs": BANK_CONFIG }): string {
  const folder = mkdtempSync(join(tmpdir(), "belay-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export const BANK_CONFIG = `export default {
  apps: { bank: () => import(${JSON.stringify(BANK)}) },
  people: [
    { id: "dana", name: "Dana", roles: ["approver"] },
    { id: "vik", name: "Vik", roles: ["viewer"] },
  ],
};
`;

/** Parses what a command printed with --json. */
export function jsonOf<Value>({ stdout }: Outcome): Value {
  return JSON.parse(stdout) as Value;
}
