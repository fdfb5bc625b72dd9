import { describe } from "vitest";
import { POSTGRES_REMEDY, postgresFolder } from "../../../scripts/ensure-postgres.ts";

export { type PostgresOptions, type PrivatePostgres, startPostgres } from "./postgres-server.ts";

/** As `describe`, and skipped with a message that says what to do where PostgreSQL is not installed. */
export function describeWithPostgres(name: string, body: () => void): void {
  if (postgresFolder() === undefined) {
    describe.skip(`${name} (PostgreSQL is not installed: ${POSTGRES_REMEDY})`, body);
  } else {
    describe(name, body);
  }
}
