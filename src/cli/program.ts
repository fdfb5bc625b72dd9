import { inspect } from "node:util";
import type { BelayError } from "../errors.ts";
import { COMMANDS, commandsOfGroup, findCommand } from "./commands.ts";
import { asBelayError, exitCodeOf } from "./exit-code.ts";
import { commandHelp, programHelp } from "./help.ts";
import { mustExit, shutdownSignal } from "./on-shutdown.ts";
import { createOutput, endOnBrokenPipe, type Output } from "./output.ts";
import { parseArguments } from "./parse-arguments.ts";

const isDebugging = process.env["BELAY_DEBUG"] === "1";

/** Runs the program with its arguments and resolves to the exit code; never rejects. */
export async function runProgram(args: readonly string[]): Promise<number> {
  endOnBrokenPipe(process.stdout, process.stderr);
  quietWarnings();
  const output = createOutput(process.stdout, process.stderr);
  const code = await runArguments(args, output).catch((error: unknown) => report(asBelayError(error), output));
  if (mustExit()) {
    process.exit(code);
  }
  return code;
}

async function runArguments(args: readonly string[], output: Output): Promise<number> {
  const help = helpFor(args);
  if (help !== undefined) {
    output.raw(help);
    return 0;
  }
  const { command, rest } = findCommand(args);
  const { isHelp, positionals, options } = parseArguments(command, rest);
  if (isHelp) {
    output.raw(commandHelp(command));
    return 0;
  }
  return command.run({ positionals, options, output, cwd: process.cwd(), signal: shutdownSignal() });
}

/** Help of the program or of a group of commands. */
function helpFor([first = "", second = ""]: readonly string[]): string | undefined {
  const isHelp = (word: string) => word === "--help" || word === "-h";
  if (isHelp(first)) {
    return programHelp(COMMANDS);
  }
  const group = commandsOfGroup(first);
  return isHelp(second) && group.length > 0 ? programHelp(group) : undefined;
}

/** One line with code and remedy; never a stack, unless somebody debugs. */
function report(error: BelayError, output: Output): number {
  output.progress(`belay: ${error.message.replace(/\s+/g, " ")} (${error.code})`);
  if (isDebugging) {
    process.stderr.write(`${inspect(error)}\n`);
  }
  return exitCodeOf(error);
}

/** Node's warnings about a user's files are explained by our own errors, or of no use to who runs a command. */
function quietWarnings(): void {
  if (!isDebugging) {
    process.removeAllListeners("warning");
  }
}
