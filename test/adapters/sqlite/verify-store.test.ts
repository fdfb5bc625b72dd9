import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Two runs of four events, three of them audited; then somebody edits the file. */
async function verdictAfter(sql: string) {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  for (const runId of ["run-1", "run-2"]) {
    const events = [
      sample.runStarted(),
      sample.repliedCalls(sample.sampleCall("c-1")),
      sample.repliedFinal("not audited"),
      sample.callSettled("c-1", { refunded: 20 }),
    ];
    const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
    await store.commit({ run: { tenant: "default", runId }, head: 0, entries });
  }
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  // Awaited here, before the store is closed.
  return await verifyStoreAudit(store);
}

it("an untouched store verifies", async () => {
  expect(await verdictAfter("")).toMatchObject({ ok: true, size: 6 });
});

it("an edited event is named, by its result as by its time", async () => {
  const run = { tenant: "default", runId: "run-2" };
  const edited = await verdictAfter(
    `UPDATE journal SET event = replace(event, '20', '90') WHERE run_id = 'run-2' AND seq = 4`,
  );
  expect(edited).toMatchObject({ ok: false, problem: "journal_differs", seq: 5, run, runSeq: 4 });
  const moved = await verdictAfter("UPDATE journal SET at = at + 1 WHERE run_id = 'run-2' AND seq = 2");
  expect(moved).toMatchObject({ ok: false, problem: "journal_differs", seq: 4, run, runSeq: 2 });
  const requester = await verdictAfter("UPDATE journal SET event = replace(event, 'c-1', 'c-9') WHERE seq = 1");
  expect(requester).toMatchObject({ ok: false, problem: "journal_differs", seq: 0, runSeq: 1 });
});

it("an event that became unreadable or was removed is named", async () => {
  expect(await verdictAfter("UPDATE journal SET event = '{' WHERE run_id = 'run-1' AND seq = 2")).toMatchObject({
    ok: false,
    problem: "journal_differs",
    runSeq: 2,
  });
  expect(await verdictAfter("DELETE FROM journal WHERE run_id = 'run-1' AND seq = 4")).toMatchObject({
    ok: false,
    problem: "journal_missing",
    seq: 2,
    runSeq: 4,
  });
});

it("an event that was put in behind the log's back is named", async () => {
  const added = await verdictAfter(
    `INSERT INTO journal SELECT tenant, run_id, 5, at, schema, event FROM journal WHERE run_id = 'run-1' AND seq = 4`,
  );
  expect(added).toMatchObject({ ok: false, problem: "record_missing", seq: null, runSeq: 5 });
  const forged = await verdictAfter(
    `INSERT INTO journal SELECT tenant, 'run-3', seq, at, schema, event FROM journal WHERE run_id = 'run-1'`,
  );
  expect(forged).toMatchObject({ ok: false, problem: "record_missing", run: { runId: "run-3" }, runSeq: 1 });
});

it("an edited, removed or truncated record of the log itself is named", async () => {
  const edited = await verdictAfter("UPDATE audit SET text = replace(text, 'refund', 'refuse') WHERE seq = 1");
  expect(edited).toMatchObject({ ok: false, problem: "changed", seq: 1 });
  expect(await verdictAfter("DELETE FROM audit WHERE seq = 2")).toMatchObject({
    ok: false,
    problem: "missing",
    seq: 2,
  });
  expect(await verdictAfter("DELETE FROM audit WHERE seq = 5")).toMatchObject({ problem: "truncated", seq: 5 });
  expect(await verdictAfter("UPDATE audit SET run_seq = 3 WHERE seq = 2")).toMatchObject({
    problem: "journal_differs",
    seq: 2,
  });
  expect(await verdictAfter("UPDATE audit_state SET frontier = 'x'")).toMatchObject({
    ok: false,
    problem: "unreadable",
  });
});
