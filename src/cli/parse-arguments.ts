import { parseArgs } from "node:util";
import type { Command, CommandInput, OptionSpec } from "./command.ts";
import { usageError } from "./usage.ts";

export type ParsedArguments = Pick<CommandInput, "positionals" | "options"> & { readonly isHelp: boolean };

type OptionToken = Extract<NonNullable<ReturnType<typeof tokensOf>>[number], { kind: "option" }>;

/** Reads the arguments of one command; throws `BELAY_USAGE` for anything that its tables do not name. */
export function parseArguments(command: Command, args: readonly string[]): ParsedArguments {
  const options: Record<string, string | true> = {};
  const positionals: string[] = [];
  for (const token of tokensOf(command, args)) {
    if (token.kind === "positional") {
      positionals.push(token.value);
    } else if (token.kind === "option") {
      takeOption(command, token, options);
    }
  }
  const isHelp = options["help"] === true;
  if (!isHelp) {
    checkPositionals(command, positionals);
  }
  return { options, positionals, isHelp };
}

/** Not strict, because the errors of strict parsing cannot be told to a user as they are; the tokens are checked here. */
function tokensOf(command: Command, args: readonly string[]) {
  const types = Object.entries(command.options).map(([name, { type }]) => [name, { type }] as const);
  return parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(types), help: { type: "boolean", short: "h" } },
    allowPositionals: true,
    strict: false,
    tokens: true,
  }).tokens;
}

function takeOption(command: Command, token: OptionToken, options: Record<string, string | true>): void {
  const { name, rawName, value } = token;
  const spec = specOf(command, name);
  // A short form is only there for help, and a misspelt `-by` would be taken apart into letters.
  if (spec === undefined || (rawName !== `--${name}` && rawName !== "-h")) {
    throw usageError(`Unknown option ${JSON.stringify(rawName)}. See belay ${command.name} --help.`);
  }
  if (Object.hasOwn(options, name)) {
    throw usageError(`${rawName} is given twice. Give it once.`);
  }
  if (spec.type === "boolean") {
    if (value !== undefined) {
      throw usageError(`${rawName} takes no value. Leave out ${JSON.stringify(value)}.`);
    }
    options[name] = true;
    return;
  }
  const isNextOption = !token.inlineValue && value?.startsWith("-");
  if (value === undefined || value === "" || isNextOption) {
    throw usageError(`${rawName} needs a value. See belay ${command.name} --help.`);
  }
  options[name] = value;
}

function specOf(command: Command, name: string): OptionSpec | undefined {
  if (name === "help") {
    return { type: "boolean", help: "" };
  }
  return Object.hasOwn(command.options, name) ? command.options[name] : undefined;
}

function checkPositionals(command: Command, positionals: readonly string[]): void {
  const missing = command.positionals.find((spec, at) => !spec.isOptional && positionals[at] === undefined);
  if (missing !== undefined) {
    throw usageError(`belay ${command.name} needs <${missing.name}>. See belay ${command.name} --help.`);
  }
  const extra = positionals[command.positionals.length];
  if (extra !== undefined) {
    throw usageError(
      `belay ${command.name} does not take ${JSON.stringify(extra)}. Put a text with spaces in quotes; ` +
        `see belay ${command.name} --help.`,
    );
  }
}
