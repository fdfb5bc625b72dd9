/** Child process: one worker. It says `ready`, works until SIGTERM, and ends when its parent does. */
import { writeSync } from "node:fs";
import { createPgBossWaker, createPostgresStore } from "../../../../src/adapters/postgres/index.ts";
import { createRestateWaker } from "../../../../src/adapters/restate/index.ts";
import { createSqliteWaker, openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";
import type { Waker } from "../../../../src/engine/index.ts";
import { createHarness } from "../../../../src/index.ts";
import type { Store } from "../../../../src/journal/index.ts";
import type { WorkerTask } from "./fleet.ts";
import { paymentsAgent, paymentsModel } from "./payments.ts";

const task = JSON.parse(process.argv[2] ?? "{}") as WorkerTask;
const { postgresUrl: connectionString } = task;
const store =
  task.sqlitePath === undefined
    ? await createPostgresStore({ connectionString })
    : await openSqliteStore(task.sqlitePath);
const waker = wakerOf(store);
const harness = createHarness({
  agent: paymentsAgent(task.ledgerUrl, task.revision),
  model: paymentsModel(task.modelMs),
  store,
  waker,
  leaseMs: task.leaseMs,
  prices: { payer: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
  ...(task.budgets === undefined ? {} : { budgets: task.budgets }),
  onAlarm: ({ code, detail }) => writeSync(2, `${code} ${detail}\n`),
});
const working = await harness.work();
process.once("SIGTERM", () => {
  void (async () => {
    await working.close();
    await waker.close?.();
    await store.close();
    process.exit(0);
  })();
});
process.once("disconnect", () => process.exit(1));
writeSync(1, "ready\n");

function wakerOf(opened: Store): Waker & { close?(): Promise<void> } {
  const { sqlitePath, restate, concurrency } = task;
  if (sqlitePath !== undefined) return createSqliteWaker(opened, { concurrency, redeliveryMs: 3000 });
  if (restate !== undefined) return createRestateWaker({ ...restate, concurrency });
  return createPgBossWaker({ connectionString, concurrency, timeoutMs: 5000 });
}
