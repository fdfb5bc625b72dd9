/** Runs every example in a process of its own; each exits non-zero when something is off, and so does this. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".ts"));
const failed = names.filter((name) => {
  process.stdout.write(`\n# ${name}\n`);
  const { status, signal } = spawnSync(process.execPath, [...process.execArgv, join(import.meta.dirname, name)], {
    stdio: "inherit",
    timeout: 120_000,
  });
  if (status !== 0) process.stdout.write(`# ${name} ended with ${signal ?? status}\n`);
  return status !== 0;
});
process.stdout.write(`\n${names.length - failed.length} of ${names.length} examples are as they should be.\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
