import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import { createMemoryStore, type RunKey } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const RUN: RunKey = { tenant: "default", runId: "run-1" };

async function damagedStore() {
  const path = join(temporaryFolder(), "store.db");
  const store = await openSqliteStore(path);
  const events = [
    sample.runStarted(),
    sample.repliedCalls(sample.sampleCall("c-1")),
    sample.approvalRequested("c-1", "apr-1"),
    sample.budgetReserved("r-1", 10),
  ];
  await store.commit({ run: RUN, head: 0, entries: events.map((event) => ({ at: sample.SAMPLE_AT, event })) });
  const before = {
    run: await store.run(RUN),
    approval: await store.approval("default", "apr-1"),
    budget: await store.budget("default", "team"),
  };
  const database = new DatabaseSync(path);
  database.exec(`
    UPDATE runs SET status = 'done', head = 99;
    DELETE FROM approvals;
    UPDATE budgets SET reserved = 0;
    DELETE FROM reservations;
    INSERT INTO budgets VALUES ('default', 'stranger', 5, 0);
  `);
  database.close();
  return { store, before };
}

it("a rebuild names every difference and mends it", async () => {
  const { store, before } = await damagedStore();
  const differences = await rebuildProjections(store);
  expect(differences.map(({ table, row }) => `${table} ${row}`).sort()).toEqual([
    "approvals default/apr-1",
    "budgets default/stranger",
    "budgets default/team",
    "reservations default/run-1/r-1",
    "runs default/run-1",
  ]);
  expect(await store.run(RUN)).toEqual(before.run);
  expect(await store.approval("default", "apr-1")).toEqual(before.approval);
  expect(await store.budget("default", "team")).toEqual(before.budget);
  expect(await rebuildProjections(store)).toEqual([]);
  await store.close();
});

it("a dry run names the same differences and changes nothing", async () => {
  const { store } = await damagedStore();
  const first = await rebuildProjections(store, { dryRun: true });
  expect(first).toHaveLength(5);
  expect(await rebuildProjections(store, { dryRun: true })).toEqual(first);
  await store.close();
});

it("a run whose index line is lost is refused with the remedy until it is rebuilt", async () => {
  const path = join(temporaryFolder(), "store.db");
  const store = await openSqliteStore(path);
  const entries = [{ at: sample.SAMPLE_AT, event: sample.runStarted() }];
  await store.commit({ run: RUN, head: 0, entries });
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM runs");
  database.close();
  const next = { run: RUN, head: 1, entries: [{ at: sample.SAMPLE_AT, event: sample.repliedFinal("x") }] };
  await expect(store.commit(next)).rejects.toMatchObject({
    code: "BELAY_STORE_CORRUPT",
    message: expect.stringContaining("rebuildProjections"),
  });
  await rebuildProjections(store);
  expect(await store.commit(next)).toEqual({ status: "committed", head: 2 });
  await store.close();
});

it("only a SQLite store can be rebuilt", async () => {
  await expect(rebuildProjections(createMemoryStore())).rejects.toMatchObject({ code: "BELAY_STORE_MISMATCH" });
});
