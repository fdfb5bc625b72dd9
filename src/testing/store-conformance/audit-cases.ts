import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { decodeFrontier, EMPTY_ROOT, inclusionProof, rootOf, verifyInclusion, verifyLog } from "../../audit/index.ts";
import type { RunEvent } from "../../core/index.ts";
import { isAudited, JOURNAL_GENESIS, journalLink, type Store, verifyStoreAudit } from "../../journal/index.ts";
import { collect, rejectsWith } from "../conformance-case.ts";
import {
  approvalRequested,
  approvalResolved,
  callDecided,
  callSettled,
  repliedCalls,
  repliedFinal,
  runEnded,
  runStarted,
  SAMPLE_AT,
  sampleCall,
} from "../sample-events.ts";
import { append, RUN, type StoreCase, startRun } from "./store-case.ts";

const story: readonly RunEvent[] = [
  { type: "segment.started", worker: "w", fence: 1 },
  repliedCalls(sampleCall("c-1")),
  callDecided("c-1"),
  approvalRequested("c-1", "apr-1"),
  approvalResolved("c-1", "apr-1", "approved"),
  callDecided("c-1", "allow"),
  { type: "call.started", callId: "c-1", attempt: 1, idempotencyKey: "key", recovery: "keyed", fence: 1 },
  callSettled("c-1", { refunded: "a secret result" }),
  repliedFinal("a secret answer"),
  runEnded(),
];

async function texts(store: Store): Promise<readonly string[]> {
  return (await store.audit.entries(0, 1000)).map((entry) => entry.text);
}

/** The audit log that grows in the transaction of the journal. */
export const AUDIT_CASES: readonly StoreCase[] = [
  {
    name: "an empty log has size 0 and the root of nothing",
    run: async ({ store }) => {
      assert.equal(await store.audit.size(), 0);
      assert.equal(await store.audit.root(), EMPTY_ROOT);
      assert.deepEqual(await store.audit.entries(0, 10), []);
    },
  },
  {
    name: "each decision and effect is one record, with arguments and without results or answers",
    run: async ({ store }) => {
      await startRun(store, RUN, story);
      const records = (await texts(store)).map((text) => JSON.parse(text) as Record<string, unknown>);
      assert.equal(records.length, [runStarted(), ...story].filter((event) => isAudited(event)).length);
      assert.equal(await store.audit.size(), records.length);
      assert.deepEqual(
        records.map((record) => record["type"]),
        [
          "run.started",
          "call.requested",
          "call.decided",
          "approval.requested",
          "approval.resolved",
          "call.decided",
          "call.started",
          "call.settled",
          "model.replied",
          "run.ended",
        ],
      );
      for (const record of records) {
        assert.equal(record["tenant"], "default");
        assert.equal(record["run"], "run-1");
        assert.deepEqual(record["principal"], { kind: "customer", id: "c-1" });
      }
      assert.deepEqual(records[1]?.["calls"], [{ callId: "c-1", tool: "refund", args: { order: 7 } }]);
      assert.ok(!(await texts(store)).join().includes("secret"));
    },
  },
  {
    name: "the root vouches for every record, and the log verifies",
    run: async ({ store }) => {
      await Promise.all(["a", "b", "c"].map((runId) => startRun(store, { tenant: "default", runId })));
      await startRun(store, RUN, story);
      const entries = await store.audit.entries(0, 1000);
      const leaves = entries.map((entry) => entry.leaf);
      const [size, root] = [await store.audit.size(), await store.audit.root()];
      assert.equal(size, entries.length);
      for (const [index, leaf] of leaves.entries()) {
        const proof = inclusionProof(leaves, index, size);
        assert.ok(verifyInclusion({ leaf, index, size, root, proof }), `record ${index} is not included`);
      }
      const frontier = await store.audit.frontier();
      assert.equal(rootOf(decodeFrontier(frontier)), root);
      assert.deepEqual(await verifyLog(entries, { frontier }), { ok: true, size, root, anchoredSize: 0 });
      assert.deepEqual(await verifyStoreAudit(store), { ok: true, size, root, anchoredSize: 0 });
    },
  },
  {
    name: "records are read page by page, and traced to the journal line that each was made from",
    run: async ({ store }) => {
      await startRun(store, RUN, story);
      const all = await store.audit.entries(0, 1000);
      assert.deepEqual(await store.audit.entries(2, 3), all.slice(2, 5));
      const traced = await collect(store.audit.traced(2));
      assert.deepEqual(
        traced.map(({ seq, text, leaf }) => ({ seq, text, leaf })),
        all.slice(2),
      );
      assert.ok(traced.every((record) => record.line?.seq === record.runSeq && record.line.run.runId === "run-1"));
      const lines = await collect(store.audit.lines());
      assert.deepEqual(
        lines.map((line) => line.seq),
        [runStarted(), ...story].map((_, index) => index + 1),
      );
    },
  },
  {
    name: "a commit that is not written leaves no record",
    run: async ({ store }) => {
      await startRun(store);
      const root = await store.audit.root();
      await append(store, RUN, 7, [runEnded()]);
      await append(store, RUN, 1, [
        runEnded(),
        { type: "budget.reserved", reservationId: "r", budget: "b", amount: 2, limit: 1 },
      ]);
      assert.equal(await store.audit.root(), root);
    },
  },
  {
    name: "blobs are listed as stored, and nothing derived differs from the journal",
    run: async ({ store }) => {
      const text = "a large result";
      const sha256 = hash("sha256", text);
      const entries = [runStarted(), ...story].map((event) => ({ at: SAMPLE_AT, event }));
      await store.commit({ run: RUN, head: 0, entries, blobs: new Map([[sha256, text]]) });
      assert.deepEqual(await collect(store.audit.blobs()), [{ sha256, text }]);
      assert.deepEqual(await store.audit.differences(), []);
      const verdict = await verifyStoreAudit(store);
      assert.ok(verdict.ok, "the store does not verify");
    },
  },
  {
    name: "a record vouches for every event of its run before it, and what follows the end has records of its own",
    run: async ({ store }) => {
      const quiet: RunEvent = { type: "segment.started", worker: "w", fence: 1 };
      await startRun(store, RUN, [quiet, repliedFinal("x"), runEnded(), quiet]);
      const records = (await texts(store)).map((text) => JSON.parse(text) as Record<string, unknown>);
      assert.deepEqual(
        records.map((record) => record["seq"]),
        [1, 3, 4, 5],
      );
      let journalHash = JOURNAL_GENESIS;
      for (const { seq, at, schema, text } of await collect(store.audit.lines())) {
        journalHash = journalLink(journalHash, { seq, at, schema, textHash: hash("sha256", text) });
        const record = records.find((candidate) => candidate["seq"] === seq);
        assert.equal(record?.["journalHash"] ?? journalHash, journalHash, `the record of event ${seq}`);
      }
    },
  },
  {
    name: "checkpoints are kept smallest first and once, and never of more records than there are",
    run: async ({ store }) => {
      await startRun(store, RUN, story);
      await store.audit.saveCheckpoint("second", 5);
      await store.audit.saveCheckpoint("first", 2);
      await store.audit.saveCheckpoint("second", 5);
      await rejectsWith(store.audit.saveCheckpoint("third", 99), "BELAY_AUDIT_INVALID");
      assert.deepEqual(await store.audit.checkpoints(), [
        { size: 2, note: "first" },
        { size: 5, note: "second" },
      ]);
    },
  },
];
