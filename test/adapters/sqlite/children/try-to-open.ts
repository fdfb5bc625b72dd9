import { openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";

/** Prints the code with which a store cannot be opened. */
const outcome = await openSqliteStore(process.argv[2] ?? "").then(
  async (store) => {
    await store.close();
    return "opened";
  },
  (error: { code?: string }) => error.code ?? String(error),
);
process.stdout.write(`${outcome}\n`);
