import { afterAll, beforeAll } from "vitest";
import { createPostgresStore, type PostgresStoreOptions } from "../../../src/adapters/postgres/index.ts";
import type { Store } from "../../../src/journal/index.ts";
import { type PostgresOptions, type PrivatePostgres, startPostgres } from "./private-postgres.ts";

export interface UsedServer {
  readonly server: PrivatePostgres;
  /** Opens a store in the schema; the same schema is the same data. */
  open(schema: string, options?: Partial<Pick<PostgresStoreOptions, "sequencer" | "max">>): Promise<Store>;
}

/** One server for the tests of a `describe`. */
export function useServer(options?: PostgresOptions): UsedServer {
  let server: PrivatePostgres | undefined;
  beforeAll(async () => {
    server = await startPostgres(options);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  const started = (): PrivatePostgres => {
    if (server === undefined) throw new Error("the server is started before the first test");
    return server;
  };
  return {
    get server() {
      return started();
    },
    open: (schema, more = {}) => createPostgresStore({ connectionString: started().url, schema, ...more }),
  };
}
