#!/usr/bin/env node
// Nothing else is imported before the version is known: an older Node stops at the first import of SQLite.
const [major = 0, minor = 0, patch = 0] = process.versions.node.split(".").map(Number);
const isNewEnough =
  major > 24 || (major === 24 && minor >= 15) || (major === 22 && (minor > 22 || (minor === 22 && patch >= 3)));

if (isNewEnough) {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(process.argv.slice(2));
} else {
  process.stderr.write(
    `belay: Node ${process.versions.node} is too old. Use Node 24.15 or newer, or 22.22.3 (BELAY_CONFIG_NODE_OLD)\n`,
  );
  process.exitCode = 2;
}
