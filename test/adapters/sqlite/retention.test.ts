import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import { retireRuns, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { RETIRE_ALL, writeRuns } from "../../journal/ended-runs.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const RETIRER = fileURLToPath(new URL("./children/retirer.ts", import.meta.url));
async function verdictAfter(sql: string) {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  await writeRuns(store, 3);
  await retireRuns(store, RETIRE_ALL);
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return await verifyStoreAudit(store);
}

describe("tampering with what is left of a retired run", () => {
  const stub = "run_id = 'run-1' AND seq = 6";
  const failed = (problem: string) => ({ ok: false, problem, run: { tenant: "default", runId: "run-1" } });

  it("nothing touched verifies", async () => {
    expect(await verdictAfter("")).toMatchObject({ ok: true, size: 12 });
  });

  it.each([
    ["who removed it", `UPDATE journal SET event = replace(event, '"gc"', '"xx"') WHERE ${stub}`],
    ["when", `UPDATE journal SET at = at + 1 WHERE ${stub}`],
    ["how it ended", `UPDATE journal SET event = replace(event, 'completed', 'cancelled') WHERE ${stub}`],
    [
      "what it follows",
      `UPDATE journal SET event = json_set(event, '$.journalHash', '${"ab".repeat(32)}') WHERE ${stub}`,
    ],
    [
      "one made of another's",
      `UPDATE journal SET event = (SELECT event FROM journal WHERE run_id = 'run-2') WHERE ${stub}`,
    ],
  ])("%s is named", async (_what, sql) => {
    expect(await verdictAfter(sql)).toMatchObject(failed("journal_differs"));
  });

  it("the event that stands for the others is missed", async () => {
    expect(await verdictAfter(`DELETE FROM journal WHERE ${stub}`)).toMatchObject(failed("journal_missing"));
    expect(await verdictAfter(`UPDATE journal SET seq = 5 WHERE ${stub}`)).toMatchObject({ ok: false });
    expect(await verdictAfter(`UPDATE journal SET seq = 9 WHERE ${stub}`)).toMatchObject({ ok: false });
  });

  it("a run that is made to look retired has no record of it", async () => {
    const path = join(temporaryFolder(), "store.db");
    await using store = await openSqliteStore(path);
    await writeRuns(store, 2);
    await retireRuns(store, RETIRE_ALL);
    const run = { tenant: "default", runId: "victim" };
    await store.commit({ run, head: 0, entries: [{ at: RETIRE_ALL.now, event: sample.runStarted() }] });
    await store.commit({ run, head: 1, entries: [{ at: RETIRE_ALL.now, event: sample.runEnded() }] });
    const database = new DatabaseSync(path);
    database.exec(`INSERT INTO journal SELECT tenant, 'victim', 3, at, schema, event FROM journal
      WHERE run_id = 'run-1'; DELETE FROM journal WHERE run_id = 'victim' AND seq < 3`);
    database.close();
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: false, run });
  });

  it("a derived row of it is derived again from what is left", async () => {
    const path = join(temporaryFolder(), "store.db");
    await using store = await openSqliteStore(path);
    await writeRuns(store, 2);
    await retireRuns(store, RETIRE_ALL);
    const before = await store.run({ tenant: "default", runId: "run-1" });
    const database = new DatabaseSync(path);
    database.exec("UPDATE runs SET agent = 'other' WHERE run_id = 'run-1'; DELETE FROM runs WHERE run_id = 'run-0'");
    database.close();
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: false, problem: "projection_differs" });
    expect(await rebuildProjections(store)).toHaveLength(2);
    expect(await store.run({ tenant: "default", runId: "run-1" })).toEqual(before);
    expect((await verifyStoreAudit(store)).ok).toBe(true);
  });
});

it("kill -9 in the middle leaves whole runs and retired ones, and the next call goes on", async () => {
  const path = join(temporaryFolder(), "store.db");
  const store = await openSqliteStore(path);
  await writeRuns(store, 600);
  await store.close();
  const child = spawn(process.execPath, ["--conditions=belay-source", RETIRER, path, String(RETIRE_ALL.now)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
  await using again = await openSqliteStore(path);
  expect((await verifyStoreAudit(again)).ok).toBe(true);
  const { runs, kept } = await retireRuns(again, RETIRE_ALL);
  expect(runs).toBeGreaterThan(0);
  expect(kept["it is retired already"]).toBeGreaterThan(0);
  expect((await verifyStoreAudit(again)).ok).toBe(true);
  expect(await again.audit.differences()).toEqual([]);
});

it("a verification beside it sees no run missing", async () => {
  await using store = await openSqliteStore(join(temporaryFolder(), "store.db"));
  await writeRuns(store, 60);
  const retention = store.retention;
  let isFirst = true;
  const racing: Store = {
    ...store,
    audit: {
      ...store.audit,
      frontier: async () => {
        // After the journal was read, and before the records are.
        if (isFirst)
          await retention?.retire({
            run: { tenant: "default", runId: "run-7" },
            cutoff: RETIRE_ALL.now,
            at: RETIRE_ALL.now,
            by: RETIRE_ALL.by,
          });
        isFirst = false;
        return store.audit.frontier();
      },
    },
  };
  expect((await verifyStoreAudit(racing)).ok).toBe(true);
  expect(isFirst).toBe(false);
});
