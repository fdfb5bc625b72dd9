/** Child process: starts runs of several events each, many at once, and prints each event that was acknowledged. */
import { writeSync } from "node:fs";
import { createPostgresStore } from "../../../../src/adapters/postgres/index.ts";
import { repliedFinal, runStarted, SAMPLE_AT } from "../../../../src/testing/index.ts";

const [connectionString = "", schema = "", name = ""] = process.argv.slice(2);
const store = await createPostgresStore({ connectionString, schema });

async function work(writer: number): Promise<void> {
  for (let number = 0; ; number += 1) {
    const run = { tenant: "default", runId: `${name}-${writer}-${number}` };
    for (let head = 0; head < 5; head += 1) {
      const event = head === 0 ? runStarted() : repliedFinal(`${run.runId}/${head}`);
      const result = await store.commit({ run, head, entries: [{ at: SAMPLE_AT, event }] });
      if (result.status !== "committed") throw new Error(`told ${result.status} at ${run.runId}/${head}`);
      // Synchronous: what was printed was acknowledged before a kill.
      writeSync(1, `${run.runId} ${head + 1}\n`);
    }
  }
}

await Promise.all(Array.from({ length: 8 }, (_, writer) => work(writer)));
