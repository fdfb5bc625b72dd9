import { hash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import type { RunEvent } from "../../../src/core/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const BLOB_TEXT = "x".repeat(100);
const BLOB = "ab".repeat(32);

/** Two runs of four events, three of them audited; then somebody edits the file. */
async function verdictAfter(sql: string) {
  return verdictOn(
    [
      sample.runStarted(),
      sample.repliedCalls(sample.sampleCall("c-1")),
      { type: "segment.started", worker: "not audited", fence: 1 },
      sample.callSettled("c-1", { refunded: 20 }),
    ],
    sql,
  );
}

async function verdictOn(events: readonly RunEvent[], sql: string) {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  for (const runId of ["run-1", "run-2"]) {
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

describe("an event without a record of its own is vouched for by the next record of its run", () => {
  const run = { tenant: "default", runId: "run-2" };
  const between = { ok: false, problem: "journal_differs", seq: 5, run, runSeq: 3, lastRunSeq: 4 };

  it.each([
    [
      "its text",
      "UPDATE journal SET event = replace(event, 'not audited', 'forged') WHERE run_id = 'run-2' AND seq = 3",
    ],
    ["its time", "UPDATE journal SET at = at + 1 WHERE run_id = 'run-2' AND seq = 3"],
    ["its schema", "UPDATE journal SET schema = 0 WHERE run_id = 'run-2' AND seq = 3"],
    ["bytes that mean the same", "UPDATE journal SET event = event || ' ' WHERE run_id = 'run-2' AND seq = 3"],
    [
      "its time, beyond what a number holds",
      "UPDATE journal SET at = 9223372036854775807 WHERE run_id = 'run-2' AND seq = 3",
    ],
    ["that it can be read", "UPDATE journal SET event = '{' WHERE run_id = 'run-2' AND seq = 3"],
    ["that it has a shape", `UPDATE journal SET event = '{"type":"model.replied"}' WHERE run_id = 'run-2' AND seq = 3`],
  ])("%s", async (_what, sql) => {
    expect(await verdictAfter(sql)).toMatchObject(between);
  });

  it("the schema of the audited event after it, which is named alone: it is the one that cannot be read", async () => {
    const { lastRunSeq: _last, ...alone } = { ...between, runSeq: 4 };
    const verdict = await verdictAfter("UPDATE journal SET schema = 0 WHERE run_id = 'run-2' AND seq = 4");
    expect(verdict).toMatchObject(alone);
    expect(verdict).not.toHaveProperty("lastRunSeq");
  });

  it("that it is there at all", async () => {
    expect(await verdictAfter("DELETE FROM journal WHERE run_id = 'run-2' AND seq = 3")).toMatchObject({
      ok: false,
      problem: "journal_missing",
      run,
      runSeq: 3,
    });
  });

  it("the first audited event of a run, whose record is at fault alone", async () => {
    const verdict = await verdictAfter("UPDATE journal SET schema = 0 WHERE seq = 1");
    expect(verdict).toMatchObject({ problem: "journal_differs", seq: 0, run: { runId: "run-1" }, runSeq: 1 });
    expect(verdict).not.toHaveProperty("lastRunSeq");
  });
});

describe("what comes last in a run", () => {
  const ended: readonly RunEvent[] = [
    sample.runStarted(),
    sample.budgetReserved("r-1", 10),
    sample.repliedFinal("the answer"),
    sample.messageQueued("next"),
    sample.runEnded(),
    { type: "budget.settled", reservationId: "r-1", budget: "team", amount: 7 },
    { type: "run.followed", nextRunId: "next" },
  ];

  it.each([
    ["an answer", "event = replace(event, 'the answer', 'another')", 3],
    ["a queued message", "event = replace(event, 'and then?', 'refund it')", 4],
    ["who queued it", "event = replace(event, 'c-1', 'mallory')", 4],
    ["a booking after the end", "event = replace(event, '7', '1')", 6],
    ["who follows", "event = replace(event, 'next', 'other')", 7],
  ])("%s", async (_what, change, seq) => {
    expect(await verdictOn(ended, "")).toMatchObject({ ok: true });
    const verdict = await verdictOn(ended, `UPDATE journal SET ${change} WHERE run_id = 'run-1' AND seq = ${seq}`);
    expect(verdict).toMatchObject({ ok: false, problem: "journal_differs", runSeq: seq, run: { runId: "run-1" } });
  });

  it("an event of an unfinished run after its last record is held against the run index", async () => {
    const running: readonly RunEvent[] = [sample.runStarted(), { type: "segment.started", worker: "w", fence: 1 }];
    const verdict = await verdictOn(running, `UPDATE journal SET event = replace(event, '"w"', '"v"') WHERE seq = 2`);
    expect(verdict).toMatchObject({ problem: "projection_differs", table: "runs", row: "default/run-1" });
    const cut = await verdictOn(running, "DELETE FROM journal WHERE seq = 2 AND run_id = 'run-2'");
    expect(cut).toMatchObject({ problem: "projection_differs", table: "runs", row: "default/run-2" });
  });

  it("a run that begins with something else is no run", async () => {
    const sql = `INSERT INTO journal SELECT tenant, 'run-3', 1, at, schema, event FROM journal WHERE seq = 2 AND run_id = 'run-1'`;
    const verdict = await verdictOn([sample.runStarted(), { type: "segment.started", worker: "w", fence: 1 }], sql);
    expect(verdict).toMatchObject({ problem: "journal_missing", run: { runId: "run-3" }, runSeq: 1 });
  });
});

describe("what is derived from the journal", () => {
  const asking: readonly RunEvent[] = [
    sample.runStarted(),
    sample.repliedCalls(sample.sampleCall("c-1")),
    sample.callDecided("c-1"),
    sample.budgetReserved("r-1", 10, 1000),
  ];

  it.each([
    ["runs", "default/run-2", "UPDATE runs SET answer = 'forged' WHERE run_id = 'run-2'"],
    ["runs", "default/run-1", "UPDATE runs SET principal = '{' WHERE run_id = 'run-1'"],
    ["runs", "default/run-1", "UPDATE runs SET updated_at = 9223372036854775807 WHERE run_id = 'run-1'"],
    ["runs", "default/run-1", "DELETE FROM runs WHERE run_id = 'run-1'"],
    ["runs", "default/run-1", "UPDATE runs SET journal_hash = 'x' WHERE run_id = 'run-1'"],
    [
      "approvals",
      "default/apr-9",
      `INSERT INTO approvals VALUES (9, 'default', 'apr-9', 'run-2', 'c-1', 'clerk', 'refund', '{}', 'h', 'C', 'r', 'i',
        '{"kind":"customer","id":"c-1"}', 'pending', 1, 2, NULL, NULL, NULL)`,
    ],
    ["budgets", "default/team", "UPDATE budgets SET used = 0, reserved = 0"],
    ["budgets", "default/extra", "INSERT INTO budgets VALUES ('default', 'extra', 0, 5)"],
    ["reservations", "default/run-1/r-1", "DELETE FROM reservations WHERE run_id = 'run-1'"],
    ["reservations", "default/run-9/r-1", "INSERT INTO reservations VALUES ('default', 'run-9', 'r-1', 'team', 1)"],
    ["audit_state", "size", "UPDATE audit_state SET size = 3"],
    ["audit_state", "newest_at", "UPDATE audit_state SET newest_at = 9000000000000"],
  ])("%s %s is found when it was changed", async (table, row, sql) => {
    expect(await verdictOn(asking, sql)).toMatchObject({
      ok: false,
      problem: "projection_differs",
      seq: null,
      table,
      row,
    });
  });
});

describe("a blob", () => {
  const value = { blob: { sha256: BLOB, bytes: BLOB_TEXT.length } };
  const settled: RunEvent = { type: "call.settled", callId: "c-1", outcome: { status: "ok", value }, attempt: 1 };

  it("that is gone is named with the event that needs it", async () => {
    expect(await verdictOn([sample.runStarted(), settled], "")).toMatchObject({
      ok: false,
      problem: "blob_missing",
      table: "blobs",
      row: BLOB,
      detail: expect.stringContaining("of event 2 of run run-1"),
    });
  });

  it("that was edited is refused when it is read, and named by the verification", async () => {
    const path = join(temporaryFolder(), "store.db");
    await using store = await openSqliteStore(path);
    const sha256 = hash("sha256", BLOB_TEXT);
    const entries = [{ at: sample.SAMPLE_AT, event: sample.runStarted() }];
    const run = { tenant: "default", runId: "run-1" };
    await store.commit({ run, head: 0, entries, blobs: new Map([[sha256, BLOB_TEXT]]) });
    expect(await store.blob(sha256)).toBe(BLOB_TEXT);
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    const database = new DatabaseSync(path);
    database.exec("UPDATE blobs SET text = 'forged'");
    database.close();
    await expect(store.blob(sha256)).rejects.toMatchObject({
      code: "BELAY_STORE_CORRUPT",
      message: expect.stringContaining(sha256),
    });
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: false, problem: "blob_differs", row: sha256 });
  });
});

it("a note of the newest time that lies in the future stops no writer, and is mended by the next commit", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  const start = (runId: string, at: number) =>
    store.commit({ run: { tenant: "default", runId }, head: 0, entries: [{ at, event: sample.runStarted() }] });
  await start("run-1", sample.SAMPLE_AT);
  const database = new DatabaseSync(path);
  database.exec("UPDATE audit_state SET newest_at = 9000000000000");
  database.close();
  expect(await start("run-2", sample.SAMPLE_AT + 5)).toEqual({ status: "committed", head: 1 });
  expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
  // What the journal itself says still counts.
  await expect(start("run-3", sample.SAMPLE_AT - 60_001)).rejects.toMatchObject({ code: "BELAY_CLOCK_BACKWARDS" });
});

it("a verification and others' writes do not disturb each other", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  const write = async (from: number): Promise<void> => {
    for (let index = from; index < from + 60; index += 1) {
      const events = [sample.runStarted(), sample.budgetReserved("r-1", 1, 1000), sample.repliedFinal("x")];
      const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
      await store.commit({ run: { tenant: "default", runId: `run-${index}` }, head: 0, entries });
    }
  };
  await write(0);
  const [first, second] = await Promise.all([verifyStoreAudit(store), verifyStoreAudit(store), write(60)]);
  expect([first, second]).toMatchObject([{ ok: true }, { ok: true }]);
  expect(await rebuildProjections(store, { dryRun: true })).toEqual([]);
});
