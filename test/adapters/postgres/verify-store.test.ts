import pg from "pg";
import { expect, it } from "vitest";
import { rebuildPostgresProjections } from "../../../src/adapters/postgres/index.ts";
import { type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const RUN_2 = { tenant: "default", runId: "run-2" };

describeWithPostgres("a store that somebody edited by hand", () => {
  const used = useServer();
  let schemas = 0;

  /** Two runs of six events; then somebody runs the SQL, with `$s` for the schema. */
  async function edited(sql: string, check: (store: Store) => Promise<void>): Promise<void> {
    schemas += 1;
    const schema = `edited_${schemas}`;
    await using store = await used.open(schema);
    for (const runId of ["run-1", "run-2"]) {
      const events = [
        sample.runStarted(),
        sample.repliedCalls(sample.sampleCall("c-1")),
        sample.approvalRequested("c-1", `apr-${runId}`),
        sample.budgetReserved("r-1", 10),
        sample.callSettled("c-1", { refunded: 20 }),
      ];
      const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
      await store.commit({ run: { tenant: "default", runId }, head: 0, entries });
    }
    await store.audit.size();
    const client = new pg.Client({ connectionString: used.server.url });
    await client.connect();
    await client.query(sql.replaceAll("$s", schema));
    await client.end();
    await check(store);
  }

  it.each([
    [
      "an event",
      "UPDATE $s.journal SET event = replace(event, '20', '90') WHERE run_id = 'run-2' AND seq = 5",
      "journal_differs",
    ],
    [
      "an event without a record",
      "UPDATE $s.journal SET at = at + 1 WHERE run_id = 'run-2' AND seq = 4",
      "journal_differs",
    ],
    [
      "a time beyond what a number holds",
      "UPDATE $s.journal SET at = 9223372036854775807 WHERE run_id = 'run-2' AND seq = 5",
      "journal_differs",
    ],
    ["an event that is gone", "DELETE FROM $s.journal WHERE run_id = 'run-2' AND seq = 5", "journal_missing"],
    [
      "an event that was put in",
      `INSERT INTO $s.journal SELECT tenant, run_id, 6, at, schema, event FROM $s.journal WHERE run_id = 'run-2' AND seq = 5`,
      "record_missing",
    ],
    [
      "a record",
      "UPDATE $s.audit_records SET text = replace(text, 'refund', 'refuse') WHERE run_id = 'run-2' AND run_seq = 2",
      "changed",
    ],
    ["a record that is gone", "DELETE FROM $s.audit_records WHERE run_id = 'run-1' AND run_seq = 2", "missing"],
    ["a place that is gone", "DELETE FROM $s.audit_order WHERE seq = 7", "truncated"],
    ["the tree", "UPDATE $s.audit_state SET frontier = 'x'", "unreadable"],
    ["a derived row", "UPDATE $s.runs SET status = 'done' WHERE run_id = 'run-2'", "projection_differs"],
  ])("%s: the verifier says so", (_what, sql, problem) =>
    edited(sql, async (store) => {
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: false, problem });
    }),
  );

  it("a record that never got its place is missed", () =>
    edited("", async () => undefined).then(async () => {
      await using store = await used.open("unplaced", { sequencer: false });
      await store.commit({ run: RUN_2, head: 0, entries: [{ at: 1, event: sample.runStarted() }] });
      const client = new pg.Client({ connectionString: used.server.url });
      await client.connect();
      await client.query("DELETE FROM unplaced.audit_pending");
      await client.end();
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: false, problem: "record_missing" });
    }));

  it.each([
    ["runs", "UPDATE $s.runs SET answer = 'forged', pending = '{' WHERE run_id = 'run-2'"],
    ["a run that is gone", "DELETE FROM $s.runs WHERE run_id = 'run-2'"],
    ["approvals", "UPDATE $s.approvals SET args = '1', status = 'approved'"],
    ["approvals that are gone", "DELETE FROM $s.approvals"],
    ["a budget", "UPDATE $s.budgets SET reserved = 0"],
    ["a budget out of nowhere", "INSERT INTO $s.budgets VALUES ('default', 'x', 'x', 1, 0)"],
    ["reservations", "DELETE FROM $s.reservations"],
    ["a stranger", "INSERT INTO $s.reservations VALUES ('default', 'nobody', 'r', 'r', 'team', 3)"],
    ["a number too large to be ours", "UPDATE $s.budgets SET used = 9223372036854775807"],
  ])("%s: found, mended, and gone", (_what, sql) =>
    edited(sql, async (store) => {
      const found = await store.audit.differences();
      expect(found.length).toBeGreaterThan(0);
      expect(await rebuildPostgresProjections(store)).toEqual(found);
      expect(await store.audit.differences()).toEqual([]);
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    }),
  );

  it("a run whose line was edited or lost goes on by its journal or says what to do, and is never torn", async () => {
    const events = [sample.repliedFinal("next")];
    const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
    await edited("UPDATE $s.runs SET head = 3 WHERE run_id = 'run-2'", async (store) => {
      expect(await store.commit({ run: RUN_2, head: 3, entries })).toEqual({ status: "conflict", head: 5 });
      expect(await store.commit({ run: RUN_2, head: 5, entries })).toEqual({ status: "committed", head: 6 });
    });
    await edited("UPDATE $s.runs SET head = 9 WHERE run_id = 'run-2'", async (store) => {
      expect(await store.commit({ run: RUN_2, head: 9, entries })).toEqual({ status: "conflict", head: 5 });
    });
    await edited("DELETE FROM $s.runs WHERE run_id = 'run-2'", async (store) => {
      await expect(store.commit({ run: RUN_2, head: 5, entries })).rejects.toMatchObject({
        code: "BELAY_STORE_CORRUPT",
      });
      const started = [{ at: sample.SAMPLE_AT, event: sample.runStarted() }];
      expect(await store.commit({ run: RUN_2, head: 0, entries: started })).toEqual({ status: "conflict", head: 5 });
    });
  });
});
