/** Child process: executes the same action many times at once and prints the id of each that was done. */
import { writeSync } from "node:fs";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { gateOf } from "../support.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const store = await openSqliteStore(path);
const { gate } = gateOf({ store, leaseMs: 300 });
const work = Array.from({ length: Number(count) }, async (_, index) => {
  const id = `${process.pid}-${index}`;
  const outcome = await gate.execute("note", { id }, { actor: { kind: "customer", id: "amy" } });
  if (outcome.status === "done") writeSync(1, `${id}\n`);
});
await Promise.all(work);
await store.close();
