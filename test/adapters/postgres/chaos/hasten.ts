import pg from "pg";
import type { Waker } from "../../../../src/engine/index.ts";

/** Seconds; a third of the 10 that pg-boss lets anybody choose would be less than the pause between two signs of life. */
const SILENCE_SECONDS = 4;

/** Makes dead workers be noticed sooner than pg-boss allows, so that a test waits less. Wakes sent before keep theirs. */
export async function hasten(postgresUrl: string, waker: Waker): Promise<void> {
  // The queues are made at the first use: a wake of a run that nobody knows, for a day that no test sees.
  const run = { tenant: "nobody", runId: "nothing" };
  await waker.wake({ run, why: "retry", key: "hasten", notBefore: Date.now() + 1e10 });
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query("UPDATE belay_wakes.queue SET heartbeat_seconds = $1 WHERE name = 'belay-wakes'", [
    SILENCE_SECONDS,
  ]);
  await client.end();
}
