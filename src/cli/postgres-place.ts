import { type CommandInput, textOption } from "./command.ts";
import { usageError } from "./usage.ts";

export type PostgresModule = typeof import("../adapters/postgres/index.ts");

/** Where other users of the machine do not see an address with its password. */
const VARIABLE = "BELAY_POSTGRES";

/** Address of the PostgreSQL database with the runs; undefined: they are in the SQLite file. Never shown. */
export function postgresAddress(input: CommandInput, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const given = textOption(input, "postgres");
  const address = given ?? env[VARIABLE];
  if (given === undefined && (address === undefined || address === "")) {
    return undefined;
  }
  if (address === undefined || !URL.canParse(address) || !/^postgres(ql)?:$/.test(new URL(address).protocol)) {
    throw usageError(
      `The address of --postgres or ${VARIABLE} is not one of PostgreSQL. Write postgres://user:password@host:port/database.`,
    );
  }
  return address;
}

/** Loads the adapter, which only those need who use it. What it needs itself it loads, and misses, at its first use. */
export function loadPostgres(): Promise<PostgresModule> {
  return import("../adapters/postgres/index.ts");
}
