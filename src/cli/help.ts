import type { Command } from "./command.ts";

const INTRODUCTION = "belay: run a guarded agent, decide what it asks, and check the evidence";
const EXIT_CODES = "Exit codes: 0 pass, 1 failed, 2 wrong use, 3 internal or storage. BELAY_DEBUG=1 shows the stack.";

/** Help of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const names = commands.map((command) => usageOf(command));
  const width = Math.max(...names.map((name) => name.length));
  return joined([
    INTRODUCTION,
    "",
    "Usage: belay <command> [options]",
    "",
    ...commands.map((command, at) => `  ${(names[at] ?? "").padEnd(width)}  ${command.summary}`),
    "",
    "Examples:",
    '  belay run shop "Where is my order O-1001?"',
    "  belay approvals",
    "  belay approve apr_1 --by dana",
    "  belay audit verify",
    "",
    "Every command has --help.",
    EXIT_CODES,
  ]);
}

/** Help of one command. */
export function commandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, help: { type: "boolean", help: "print this", value: "" } }).map(
    ([name, spec]) => [spec.value ? `--${name} <${spec.value}>` : `--${name}`, spec.help] as const,
  );
  const width = Math.max(...options.map(([name]) => name.length));
  return joined([
    `belay ${command.name}: ${command.summary}`,
    "",
    `Usage: belay ${usageOf(command)} [options]`,
    "",
    "Options:",
    ...options.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`),
    "",
    "Examples:",
    ...command.examples.map((example) => `  belay ${example}`),
    "",
    EXIT_CODES,
  ]);
}

function usageOf(command: Command): string {
  const places = command.positionals.map(({ name, isOptional }) => (isOptional ? `[${name}]` : `<${name}>`));
  return [command.name, ...places].join(" ");
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
