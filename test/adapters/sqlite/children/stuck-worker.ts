/** Child process: serves wakes, says which one it began, and never finishes it. */
import { writeSync } from "node:fs";
import { createSqliteWaker, openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";

const [path = ""] = process.argv.slice(2);
const store = await openSqliteStore(path);
await createSqliteWaker(store, { pollMs: 5, redeliveryMs: 300 }).serve(async (wake) => {
  writeSync(1, `${wake.key}\n`);
  await new Promise(() => undefined);
});
