import assert from "node:assert/strict";
import type { RunEvent } from "../../core/index.ts";
import { rejectsWith } from "../conformance-case.ts";
import {
  approvalRequested,
  approvalResolved,
  callDecided,
  repliedCalls,
  runEnded,
  SAMPLE_AT,
  sampleCall,
} from "../sample-events.ts";
import { append, appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

const asked: readonly RunEvent[] = [
  repliedCalls(sampleCall("c-1"), sampleCall("c-2", { order: 8, note: "ü" })),
  callDecided("c-1"),
  approvalRequested("c-1", "apr-1"),
  callDecided("c-2"),
  approvalRequested("c-2", "apr-2"),
];

const expired: RunEvent = { type: "approval.expired", callId: "c-2", approvalId: "apr-2" };

/** The approvals inbox, from the question to its end. */
export const APPROVAL_CASES: readonly StoreCase[] = [
  {
    name: "a request shows tool, arguments, reason and requester, also when they came in earlier commits",
    run: async ({ store }) => {
      let head = await startRun(store);
      for (const event of asked) {
        head = await appendAll(store, RUN, head, [event]);
      }
      assert.deepEqual(await store.approval("default", "apr-2"), {
        tenant: "default",
        runId: "run-1",
        approvalId: "apr-2",
        callId: "c-2",
        agent: "clerk",
        tool: "refund",
        args: { order: 8, note: "ü" },
        argsHash: "args",
        code: "ABOVE_AUTO",
        reason: "above the limit",
        ruleId: "amount",
        requester: { kind: "customer", id: "c-1" },
        status: "pending",
        requestedAt: SAMPLE_AT,
        expiresAt: SAMPLE_AT + 1000,
      });
      assert.equal((await store.run(RUN))?.status, "waiting");
    },
  },
  {
    name: "of a question only what stands before it is shown, whatever its own commit brings after it",
    run: async ({ store }) => {
      const head = await startRun(store, RUN, [callDecided("c-1")]);
      await appendAll(store, RUN, head, [approvalRequested("c-1", "apr-1"), repliedCalls(sampleCall("c-1"))]);
      const row = await store.approval("default", "apr-1");
      assert.deepEqual([row?.code, row?.ruleId, row?.tool], ["ABOVE_AUTO", "amount", "unknown"]);
      assert.deepEqual(await store.audit.differences(), []);
    },
  },
  {
    name: "an answer closes its question once, whatever is said later",
    run: async ({ store }) => {
      const head = await startRun(store, RUN, asked);
      await appendAll(store, RUN, head, [approvalResolved("c-1", "apr-1", "rejected")], SAMPLE_AT + 5);
      const first = await store.approval("default", "apr-1");
      assert.equal(first?.status, "rejected");
      assert.equal(first.resolvedAt, SAMPLE_AT + 5);
      assert.deepEqual(first.resolvedBy, { kind: "person", id: "p-1" });
      assert.equal(first.note, "seen");
      await appendAll(store, RUN, head + 1, [approvalResolved("c-1", "apr-1", "approved")], SAMPLE_AT + 9);
      assert.deepEqual(await store.approval("default", "apr-1"), first);
      assert.equal((await store.run(RUN))?.status, "waiting");
      await appendAll(store, RUN, head + 2, [expired]);
      assert.equal((await store.approval("default", "apr-2"))?.status, "expired");
      assert.equal((await store.run(RUN))?.status, "running");
    },
  },
  {
    name: "the end of a run voids its open questions and keeps the answered ones",
    run: async ({ store }) => {
      const head = await startRun(store, RUN, asked);
      const other = { ...RUN, runId: "run-2" };
      await startRun(store, other, [
        repliedCalls(sampleCall("c-1")),
        callDecided("c-1"),
        approvalRequested("c-1", "apr-3"),
      ]);
      await appendAll(store, RUN, head, [approvalResolved("c-1", "apr-1", "approved"), runEnded("cancelled")]);
      const statuses = (await store.approvals({ tenant: "default" })).map((row) => [row.approvalId, row.status]);
      assert.deepEqual(statuses, [
        ["apr-1", "approved"],
        ["apr-2", "void"],
        ["apr-3", "pending"],
      ]);
    },
  },
  {
    name: "the inbox is filtered by status and run, oldest first, page by page",
    run: async ({ store }) => {
      await startRun(store, RUN, asked, SAMPLE_AT + 10);
      const early = { ...RUN, runId: "run-0" };
      await startRun(store, early, [repliedCalls(sampleCall("c-1")), approvalRequested("c-1", "apr-0")], SAMPLE_AT);
      const ids = async (query: Partial<Parameters<typeof store.approvals>[0]>) =>
        (await store.approvals({ tenant: "default", ...query })).map((row) => row.approvalId);
      assert.deepEqual(await ids({}), ["apr-0", "apr-1", "apr-2"]);
      assert.deepEqual(await ids({ limit: 1 }), ["apr-0"]);
      assert.deepEqual(await ids({ runId: "run-1" }), ["apr-1", "apr-2"]);
      assert.deepEqual(await ids({ status: "approved" }), []);
      assert.deepEqual(await ids({ status: "pending", runId: "run-0" }), ["apr-0"]);
    },
  },
  {
    name: "the inbox goes on after a row, loses none of the same millisecond, and keeps its place when that row is answered",
    run: async ({ store }) => {
      const asks = (runId: string, approvalId: string, at: number) =>
        startRun(store, { ...RUN, runId }, [repliedCalls(sampleCall("c-1")), approvalRequested("c-1", approvalId)], at);
      // Ids that sort the other way round than the rows.
      for (const [index, at] of [0, 5, 5, 5, 9].entries()) {
        await asks(`run-${index}`, `apr-${9 - index}`, SAMPLE_AT + at);
      }
      await asks("late-but-older", "apr-old", SAMPLE_AT + 2);
      const all = ["apr-9", "apr-old", "apr-8", "apr-7", "apr-6", "apr-5"];
      const page = async (query: Partial<Parameters<typeof store.approvals>[0]>) =>
        (await store.approvals({ tenant: "default", ...query })).map(({ requestedAt, approvalId }) => {
          return { requestedAt, approvalId };
        });
      const paged: string[] = [];
      let after: { readonly requestedAt: number; readonly approvalId: string } | undefined;
      // Bounded, so that a store which forgets the place fails instead of paging for ever.
      for (let pages = 0; pages < 6; pages += 1) {
        const rows = await page({ limit: 2, ...(after && { after }) });
        paged.push(...rows.map(({ approvalId }) => approvalId));
        after = rows.at(-1) ?? after;
      }
      assert.deepEqual(paged, all);
      const [place] = await page({ status: "pending", runId: "run-2" });
      assert.ok(place);
      await appendAll(store, { ...RUN, runId: "run-2" }, 3, [approvalResolved("c-1", "apr-7", "rejected")]);
      const rest = async (query: Partial<Parameters<typeof store.approvals>[0]>) =>
        (await page({ after: place, ...query })).map(({ approvalId }) => approvalId);
      assert.deepEqual(await rest({ status: "pending" }), ["apr-6", "apr-5"]);
      assert.deepEqual(await rest({ status: "pending", limit: 1 }), ["apr-6"]);
      assert.deepEqual(await rest({ runId: "run-4" }), ["apr-5"]);
      assert.deepEqual(await rest({ after: { ...place, approvalId: "unknown" } }), ["apr-5"]);
    },
  },
  {
    name: "an approval id is given out once, and another run cannot answer it",
    run: async ({ store }) => {
      const head = await startRun(store, RUN, asked);
      await rejectsWith(append(store, RUN, head, [approvalRequested("c-2", "apr-1")]), "BELAY_COMMIT_INVALID");
      await startRun(store, { ...RUN, runId: "run-2" }, [approvalResolved("c-1", "apr-1", "approved")]);
      assert.equal((await store.approval("default", "apr-1"))?.status, "pending");
    },
  },
];
