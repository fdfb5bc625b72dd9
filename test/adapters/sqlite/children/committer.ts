/** Child process: commits to one run until it has had `count` commits of its own, and prints each acknowledged event. */
import { writeSync } from "node:fs";
import { openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";
import { repliedFinal, runStarted, SAMPLE_AT } from "../../../../src/testing/index.ts";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
const run = { tenant: "default", runId: "shared" };
const store = await openSqliteStore(path);
for (let own = 0; own < Number(count); ) {
  const head = (await store.read(run)).length;
  const event = head === 0 ? runStarted() : repliedFinal(`${name}-${own}`);
  const result = await store.commit({ run, head, entries: [{ at: SAMPLE_AT, event }] });
  if (result.status === "committed") {
    // Synchronous: what was printed was acknowledged before a kill.
    writeSync(1, `${result.head} ${head === 0 ? "start" : `${name}-${own}`}\n`);
    own += head === 0 ? 0 : 1;
  }
}
await store.close();
