import assert from "node:assert/strict";
import type { RunEvent } from "../../core/index.ts";
import type { RunRow } from "../../journal/index.ts";
import {
  approvalRequested,
  messageQueued,
  repliedCalls,
  repliedFinal,
  runEnded,
  runStarted,
  SAMPLE_AT,
  sampleCall,
} from "../sample-events.ts";
import { append, appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

const ids = (rows: readonly RunRow[]) => rows.map((row) => row.runId);

const followed: RunEvent = { type: "run.followed", nextRunId: "next-1" };

/** The run index, conversations, and that nothing is found without its tenant. */
export const QUERY_CASES: readonly StoreCase[] = [
  {
    name: "the run index follows a run from its start to its end",
    run: async ({ store }) => {
      await startRun(store, RUN, [], SAMPLE_AT);
      const started: RunRow = {
        tenant: "default",
        runId: "run-1",
        agent: "clerk",
        conversationId: "cnv-1",
        principal: { kind: "customer", id: "c-1" },
        input: "refund order 7",
        status: "running",
        head: 1,
        startedAt: SAMPLE_AT,
        updatedAt: SAMPLE_AT,
      };
      assert.deepEqual(await store.run(RUN), started);
      await appendAll(store, RUN, 1, [repliedFinal("done: ü"), runEnded()], SAMPLE_AT + 7);
      const ended = { head: 3, updatedAt: SAMPLE_AT + 7, status: "done", termination: "completed", answer: "done: ü" };
      assert.deepEqual(await store.run(RUN), { ...started, ...ended });
      await appendAll(store, RUN, 3, [runEnded("cancelled"), repliedFinal("later")], SAMPLE_AT + 8);
      assert.deepEqual(await store.run(RUN), { ...started, ...ended, head: 5, updatedAt: SAMPLE_AT + 8 });
    },
  },
  {
    name: "runs with a call in doubt are listed until a person reconciles it",
    run: async ({ store }) => {
      const unknown = {
        status: "unknown",
        error: { code: "outcome_unknown", message: "?", retryable: false },
      } as const;
      const lost = (callId: string): RunEvent => ({ type: "call.settled", callId, outcome: unknown, attempt: 1 });
      const other = { ...RUN, runId: "other" };
      await startRun(
        store,
        RUN,
        [repliedCalls(sampleCall("c'1"), sampleCall("c-2")), lost("c'1"), lost("c-2")],
        SAMPLE_AT,
      );
      await startRun(
        store,
        other,
        [repliedCalls(sampleCall("c-1")), lost("c-1"), runEnded("cancelled")],
        SAMPLE_AT + 1,
      );
      await startRun(store, { ...RUN, runId: "clear" }, [], SAMPLE_AT + 2);
      assert.deepEqual(ids(await store.runs({ tenant: "default", inDoubt: true })), ["other", RUN.runId]);
      assert.deepEqual(ids(await store.runs({ tenant: "else", inDoubt: true })), []);
      assert.deepEqual((await store.run(RUN))?.inDoubt, ["c'1", "c-2"]);
      const reconciled = (callId: string): RunEvent => {
        return {
          type: "call.reconciled",
          callId,
          outcome: "happened",
          by: { kind: "person", id: "p-1" },
          note: "seen",
        };
      };
      await appendAll(store, other, 4, [reconciled("c-1")]);
      await appendAll(store, RUN, 4, [reconciled("c'1")]);
      assert.deepEqual(
        (await store.runs({ tenant: "default", inDoubt: true })).map(({ inDoubt }) => inDoubt),
        [["c-2"]],
      );
      assert.equal((await store.run(other))?.inDoubt, undefined);
      assert.deepEqual(await store.audit.differences(), []);
    },
  },
  {
    name: "runs are listed newest first and page by page, and no page loses runs of the same millisecond",
    run: async ({ store }) => {
      for (const [index, at] of [0, 5, 5, 5, 9].entries()) {
        await startRun(store, { tenant: "default", runId: `run-${index}` }, [], SAMPLE_AT + at);
      }
      const all = await store.runs({ tenant: "default" });
      assert.deepEqual(ids(all), ["run-4", "run-3", "run-2", "run-1", "run-0"]);
      const paged: string[] = [];
      let last: RunRow | undefined;
      // Bounded, so that a store which forgets the place fails instead of paging for ever.
      for (let pages = 0; pages < 5; pages += 1) {
        const after = last === undefined ? {} : { before: last.startedAt, beforeRunId: last.runId };
        const page = await store.runs({ tenant: "default", limit: 2, ...after });
        paged.push(...ids(page));
        last = page.at(-1) ?? last;
      }
      assert.deepEqual(paged, ids(all));
      assert.deepEqual(ids(await store.runs({ tenant: "default", before: SAMPLE_AT + 5 })), ["run-0"]);
    },
  },
  {
    name: "runs are filtered by status and agent",
    run: async ({ store }) => {
      await startRun(store, { ...RUN, runId: "a" }, [runEnded()]);
      await startRun(store, { ...RUN, runId: "b" }, [runEnded("cancelled")]);
      await append(store, { ...RUN, runId: "c" }, 0, [runStarted("default", "cnv-2", "other")]);
      await startRun(store, { ...RUN, runId: "d" }, [
        repliedCalls(sampleCall("c-1")),
        approvalRequested("c-1", "apr-1"),
      ]);
      const listed = async (query: object) => ids(await store.runs({ tenant: "default", ...query }));
      assert.deepEqual(await listed({ status: "done" }), ["a"]);
      assert.deepEqual(await listed({ status: "failed" }), ["b"]);
      assert.deepEqual(await listed({ status: "running" }), ["c"]);
      assert.deepEqual(await listed({ status: "waiting" }), ["d"]);
      assert.deepEqual(await listed({ agent: "other", status: "running" }), ["c"]);
      assert.deepEqual(await listed({ agent: "other", status: "done" }), []);
    },
  },
  {
    name: "unfinished runs of every tenant are found page by page, also ended ones that must be followed",
    run: async ({ store }) => {
      await startRun(store, { tenant: "a", runId: "2" });
      await startRun(store, { tenant: "b", runId: "1" }, [
        messageQueued("next-1"),
        messageQueued("next-2"),
        runEnded(),
      ]);
      await startRun(store, { tenant: "a", runId: "1" });
      await startRun(store, { tenant: "c", runId: "1" }, [runEnded()]);
      const first = await store.unfinished(2);
      assert.deepEqual(
        first.map(({ tenant, runId }) => [tenant, runId]),
        [
          ["a", "1"],
          ["a", "2"],
        ],
      );
      const rest = await store.unfinished(2, first[1]);
      assert.deepEqual(
        rest.map(({ tenant, nextRunId }) => [tenant, nextRunId]),
        [["b", "next-1"]],
      );
      await appendAll(store, { tenant: "b", runId: "1" }, 4, [followed]);
      assert.deepEqual(await store.unfinished(2, first[1]), []);
    },
  },
  {
    name: "a conversation lists its runs oldest first",
    run: async ({ store }) => {
      for (const runId of ["z", "m", "a"]) {
        await startRun(store, { tenant: "default", runId });
      }
      await append(store, { ...RUN, runId: "x" }, 0, [runStarted("default", "cnv-2")]);
      assert.deepEqual(ids(await store.conversation("default", "cnv-1")), ["z", "m", "a"]);
      assert.deepEqual(await store.conversation("default", "nobody"), []);
    },
  },
  {
    name: "two tenants may use the same ids, and neither sees the other",
    run: async ({ store }) => {
      const theirs = { tenant: "theirs", runId: RUN.runId };
      await startRun(store, RUN, [repliedCalls(sampleCall("c-1")), approvalRequested("c-1", "apr-1")]);
      assert.deepEqual(await store.read(theirs), []);
      assert.equal(await store.run(theirs), undefined);
      assert.equal(await store.approval("theirs", "apr-1"), undefined);
      await startRun(store, theirs, [
        repliedCalls(sampleCall("c-1", { order: 99 })),
        approvalRequested("c-1", "apr-1"),
        { type: "budget.reserved", reservationId: "r", budget: "team", amount: 5, limit: 9 },
        runEnded(),
      ]);
      assert.equal((await store.approval("default", "apr-1"))?.status, "pending");
      assert.deepEqual((await store.approval("theirs", "apr-1"))?.args, { order: 99 });
      assert.equal((await store.budget("default", "team")).reserved, 0);
      assert.equal((await store.read(RUN)).length, 3);
      for (const rows of [await store.runs({ tenant: "default" }), await store.conversation("default", "cnv-1")]) {
        assert.deepEqual(
          rows.map((row) => row.tenant),
          ["default"],
        );
      }
      assert.equal((await store.approvals({ tenant: "default" })).length, 1);
      assert.equal((await store.acquireLease(RUN, "one", 1000, 0)).status, "held");
      assert.equal((await store.acquireLease(theirs, "two", 1000, 0)).status, "held");
    },
  },
];
