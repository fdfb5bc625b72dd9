import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, it } from "vitest";
import { createPostgresStore, rebuildPostgresProjections } from "../../../src/adapters/postgres/index.ts";
import type { RunEvent } from "../../../src/core/index.ts";
import { retireRuns, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { RETIRE_ALL, writeRuns } from "../../journal/ended-runs.ts";
import { faultyPool } from "./faulty-pool.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

function settledWith(text: string): RunEvent {
  const value = { blob: { sha256: hash("sha256", text), bytes: text.length } };
  return { type: "call.settled", callId: "c-1", outcome: { status: "ok", value }, attempt: 1 };
}

describeWithPostgres("retention in PostgreSQL", () => {
  const used = useServer();
  let schemas = 0;

  async function verdictAfter(sql: string, check?: (store: Store) => Promise<void>) {
    schemas += 1;
    const schema = `left_${schemas}`;
    await using store = await used.open(schema);
    await writeRuns(store, 3);
    await retireRuns(store, RETIRE_ALL);
    const client = new pg.Client({ connectionString: used.server.url });
    await client.connect();
    await client.query(sql.replaceAll("$s", schema));
    await client.end();
    const verdict = await verifyStoreAudit(store);
    await check?.(store);
    return verdict;
  }

  const stub = "run_id = 'run-1' AND seq = 6";
  it.each([
    ["who removed it", `UPDATE $s.journal SET event = replace(event, '"gc"', '"xx"') WHERE ${stub}`, "journal_differs"],
    ["when", `UPDATE $s.journal SET at = at + 1 WHERE ${stub}`, "journal_differs"],
    [
      "what it follows",
      `UPDATE $s.journal SET event = regexp_replace(event, '"journalHash":"[0-9a-f]{64}"',
        '"journalHash":"${"ab".repeat(32)}"') WHERE ${stub}`,
      "journal_differs",
    ],
    ["the event itself", `DELETE FROM $s.journal WHERE ${stub}`, "journal_missing"],
  ])("tampering with what is left of a run is named: %s", async (_what, sql, problem) => {
    expect(await verdictAfter(sql)).toMatchObject({
      ok: false,
      problem,
      run: { tenant: "default", runId: "run-1" },
    });
  });

  it("a derived row of it is derived again from what is left", async () => {
    const sql = "UPDATE $s.runs SET agent = 'other' WHERE run_id = 'run-1'; DELETE FROM $s.runs WHERE run_id = 'run-0'";
    const verdict = await verdictAfter(sql, async (store) => {
      expect(await rebuildPostgresProjections(store)).toHaveLength(2);
      expect(await store.run({ tenant: "default", runId: "run-1" })).toMatchObject({ agent: "clerk", input: "" });
      expect((await verifyStoreAudit(store)).ok).toBe(true);
    });
    expect(verdict).toMatchObject({ ok: false, problem: "projection_differs" });
  });

  it.each(["before", "after"] as const)(
    "a connection lost %s COMMIT was done: retired once, and told so",
    async (fault) => {
      const faulty = faultyPool(used.server.url);
      {
        const schema = `unanswered_${fault}`;
        await using store = await createPostgresStore({ pool: faulty.pool, schema, sequencer: false });
        await writeRuns(store, 1);
        await store.audit.size();
        faulty.fault = fault;
        const run = { tenant: "default", runId: "run-0" };
        const retired = await store.retention?.retire({
          run,
          cutoff: RETIRE_ALL.now,
          at: RETIRE_ALL.now,
          by: RETIRE_ALL.by,
        });
        expect(retired).toMatchObject({ status: "retired", events: 5 });
        expect((await store.read(run)).map(({ seq }) => seq)).toEqual([6]);
        expect(await verifyStoreAudit(store)).toMatchObject({ ok: true, size: 4 });
      }
      await faulty.pool.end();
    },
  );

  /** A garbage blob; then a commit brings it again while somebody removes blobs. `trigger` stops one of the two. */
  async function bothAtOnce(schema: string, trigger: string, first: "commit" | "drop"): Promise<number | undefined> {
    await using store = await used.open(schema);
    await using other = await used.open(schema);
    const text = "the same text";
    const sha256 = hash("sha256", text);
    const commit = (runId: string, event: RunEvent) =>
      store.commit({
        run: { tenant: "default", runId },
        head: 0,
        entries: [sample.runStarted(), event].map((each) => ({ at: sample.SAMPLE_AT, event: each })),
        blobs: new Map([[sha256, text]]),
      });
    await commit("garbage", sample.runEnded());
    const client = new pg.Client({ connectionString: used.server.url });
    await client.connect();
    await client.query(`CREATE FUNCTION ${schema}.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(77); RETURN NULL; END $$; ${trigger.replaceAll("$s", schema)};
      SELECT pg_advisory_lock(77)`);
    const works = {
      commit: () => commit("meant", settledWith(text)),
      drop: async () => (await other.retention?.dropBlobs())?.blobs,
    };
    const waiting = async (count: number): Promise<void> => {
      const sql = "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      // Whoever does not wait for the other is done meanwhile.
      for (let looks = 0; looks < 25; looks += 1) {
        if ((await client.query<{ waiting: number }>(sql)).rows[0]?.waiting === count) return;
        await sleep(20);
      }
    };
    const begun = works[first]();
    await waiting(1);
    const second = works[first === "commit" ? "drop" : "commit"]();
    await waiting(2);
    await client.query("SELECT pg_advisory_unlock(77)");
    const outcomes = await Promise.all([begun, second]);
    await client.end();
    expect(outcomes[first === "commit" ? 0 : 1]).toEqual({ status: "committed", head: 2 });
    expect(await store.blob(sha256)).toBe(text);
    return outcomes[first === "commit" ? 1 : 0] as number | undefined;
  }

  it("a blob that a commit under way means is not removed", async () => {
    const trigger = `CREATE CONSTRAINT TRIGGER late AFTER INSERT ON $s.journal
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION $s.wait()`;
    expect(await bothAtOnce("bringing", trigger, "commit")).toBe(0);
  });

  it("a blob that is being removed is written again by a commit that means it", async () => {
    const trigger = "CREATE TRIGGER late AFTER DELETE ON $s.blobs FOR EACH ROW EXECUTE FUNCTION $s.wait()";
    expect(await bothAtOnce("removing", trigger, "drop")).toBe(1);
  });
});
