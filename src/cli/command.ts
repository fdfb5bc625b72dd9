import type { Output } from "./output.ts";

export interface OptionSpec {
  readonly type: "boolean" | "string";
  readonly help: string;
  /** Name of the value in help. */
  readonly value?: string;
}

interface PositionalSpec {
  readonly name: string;
  readonly isOptional?: boolean;
}

/** What a command was called with, checked against its tables. */
export interface CommandInput {
  readonly positionals: readonly string[];
  readonly options: Readonly<Record<string, string | true | undefined>>;
  readonly output: Output;
  readonly cwd: string;
  /** Aborts when the user interrupts. */
  readonly signal: AbortSignal;
}

/** One command: `name` may have two words. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly positionals: readonly PositionalSpec[];
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly examples: readonly string[];
  /** Resolves to the exit code: 0 pass, 1 failed, 2 usage. Throws `BelayError` for everything else. */
  run(input: CommandInput): Promise<number>;
}

/** For commands that need the folder of a project and not its runs. */
export const PLACE_OPTIONS: Readonly<Record<"db" | "tenant", OptionSpec>> = {
  db: {
    type: "string",
    value: "file",
    help: "database of runs; the apps' data lie beside it (default .belay/belay.db)",
  },
  tenant: { type: "string", value: "name", help: "tenant whose runs are meant (default default)" },
};

export const DATABASE_OPTIONS: Readonly<Record<"db" | "tenant" | "postgres", OptionSpec>> = {
  ...PLACE_OPTIONS,
  postgres: {
    type: "string",
    value: "url",
    help: "PostgreSQL with the runs (default the variable BELAY_POSTGRES); of --db only the folder counts then",
  },
};

export const CONFIG_OPTIONS: Readonly<Record<"config", OptionSpec>> = {
  config: { type: "string", value: "file", help: "configuration (default belay.config.mts, .ts or .mjs here)" },
};

export const JSON_OPTION: Readonly<Record<"json", OptionSpec>> = {
  json: { type: "boolean", help: "print JSON" },
};

/** The value of an option that takes one. */
export function textOption(input: CommandInput, name: string): string | undefined {
  const value = input.options[name];
  return typeof value === "string" ? value : undefined;
}

export function hasFlag(input: CommandInput, name: string): boolean {
  return input.options[name] === true;
}
