import { afterAll, beforeAll, it } from "vitest";
import { createPostgresStore } from "../../../src/adapters/postgres/index.ts";
import { storeConformance } from "../../../src/testing/index.ts";
import { describeWithPostgres, type PrivatePostgres, startPostgres } from "./private-postgres.ts";

describeWithPostgres("the PostgreSQL store keeps every promise of a store", () => {
  let server: PrivatePostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  let schemas = 0;
  const open = async () => {
    schemas += 1;
    const options = { connectionString: server.url, schema: `case_${schemas}` };
    let store = await createPostgresStore(options);
    const reopen = async () => {
      await store.close();
      store = await createPostgresStore(options);
      return store;
    };
    return { store, reopen, close: () => store.close() };
  };
  for (const { name, run } of storeConformance(open)) {
    it(name, run);
  }
});
