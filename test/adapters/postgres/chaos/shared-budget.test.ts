import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createPgBossWaker, createPostgresStore } from "../../../../src/adapters/postgres/index.ts";
import { createSqliteWaker, openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";
import type { Waker } from "../../../../src/engine/index.ts";
import { createHarness } from "../../../../src/index.ts";
import { type RunRow, type Store, verifyStoreAudit } from "../../../../src/journal/index.ts";
import { describeWithPostgres, startPostgres } from "../private-postgres.ts";
import { createFleet, type WorkerTask } from "./fleet.ts";
import { hasten } from "./hasten.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { payInput, paymentsAgent, paymentsModel } from "./payments.ts";

const RUNS = 100;
// A run of two payments costs 3 calls of 110 tokens at 1,000 nano-dollars: the limit is enough for about half of them.
const LIMIT_NANO_USD = 16_000_000;
const TIMEOUT_MS = 180_000;

/** Several processes drive 100 runs against one limit; two of them are killed while they hold reservations. */
async function spendTogether(store: Store, waker: Waker, ledger: Ledger, task: WorkerTask): Promise<void> {
  const budgets = { team: LIMIT_NANO_USD };
  const office = createHarness({
    agent: paymentsAgent(ledger.url, "1"),
    model: paymentsModel(1),
    store,
    waker,
    budgets,
    prices: { payer: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
  });
  await using fleet = createFleet();
  const starting = Array.from({ length: 3 }, () => fleet.add({ ...task, budgets }));
  await Promise.all(Array.from({ length: RUNS }, (_, number) => office.start(payInput(`order-${number}`, 2, 100))));
  const [first, second] = await Promise.all(starting);
  await untilBudget(store, ({ used }) => used > LIMIT_NANO_USD / 8);
  for (const victim of [first, second]) {
    if (victim !== undefined) await fleet.kill(victim);
    await sleep(100);
  }
  await fleet.add({ ...task, budgets });
  const rows = await ended(store);
  const budget = await store.budget("default", "team");
  expect(budget.reserved).toBe(0);
  expect(budget.used).toBeLessThanOrEqual(LIMIT_NANO_USD);
  const done = rows.filter(({ status }) => status === "done");
  expect(done.length).toBeGreaterThan(10);
  expect(done.length).toBeLessThan(RUNS);
  // Unknown cost counts as the reservation, so the sum may be more than what the ended runs report, never less.
  expect(budget.used).toBeGreaterThanOrEqual(done.length * 330_000);
  expect([...ledger.done()].filter(([, times]) => times !== 1)).toEqual([]);
  expect(await store.audit.differences()).toEqual([]);
  expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
}

async function untilBudget(store: Store, isThere: (budget: { readonly used: number }) => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!isThere(await store.budget("default", "team"))) {
    if (Date.now() > deadline) throw new Error("nothing was spent");
    await sleep(10);
  }
}

async function ended(store: Store): Promise<readonly RunRow[]> {
  const deadline = Date.now() + 90_000;
  for (;;) {
    const rows = await store.runs({ tenant: "default", limit: 1000 });
    if (rows.length === RUNS && rows.every(({ status }) => status === "done" || status === "failed")) return rows;
    if (Date.now() > deadline) throw new Error("not every run has ended");
    await sleep(100);
  }
}

describeWithPostgres("one cost limit for runs of many processes", () => {
  it(
    "holds on PostgreSQL, and a killed worker leaks no reservation",
    async () => {
      await using postgres = await startPostgres();
      await using ledger = await openLedger();
      await using store = await createPostgresStore({ connectionString: postgres.url });
      await using waker = createPgBossWaker({ connectionString: postgres.url });
      await hasten(postgres.url, waker);
      await spendTogether(store, waker, ledger, taskOf(postgres.url, ledger));
    },
    TIMEOUT_MS,
  );
});

it(
  "one cost limit holds on SQLite too, and a killed worker leaks no reservation",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-budget-"));
    try {
      await using ledger = await openLedger();
      const sqlitePath = join(folder, "store.db");
      await using store = await openSqliteStore(sqlitePath);
      await spendTogether(store, createSqliteWaker(store), ledger, { ...taskOf("", ledger), sqlitePath });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  TIMEOUT_MS,
);

function taskOf(postgresUrl: string, ledger: Ledger): WorkerTask {
  return { postgresUrl, ledgerUrl: ledger.url, revision: "1", leaseMs: 3000, modelMs: 10, concurrency: 8 };
}
