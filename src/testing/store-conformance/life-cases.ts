import assert from "node:assert/strict";
import { collect, rejectsWith } from "../conformance-case.ts";
import { approvalRequested, budgetReserved, repliedCalls, repliedFinal, sampleCall } from "../sample-events.ts";
import { append, appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

/** Live views, closing and opening again. */
export const LIFE_CASES: readonly StoreCase[] = [
  {
    name: "a subscriber hears of each commit and of nothing else, until it leaves",
    run: async ({ store }) => {
      const heard: string[] = [];
      const leave = store.subscribe((run, entries) => {
        heard.push(
          `${run.tenant}/${run.runId}: ${entries.map((entry) => `${entry.seq} ${entry.event.type}`).join(", ")}`,
        );
      });
      await startRun(store, RUN, [repliedFinal("x")]);
      await append(store, RUN, 0, [repliedFinal("conflict")]);
      leave();
      await appendAll(store, RUN, 2, [repliedFinal("unheard")]);
      assert.deepEqual(heard, ["default/run-1: 1 run.started, 2 model.replied"]);
    },
  },
  {
    name: "a subscriber that throws or changes what it is given disturbs nobody",
    run: async ({ store }) => {
      const heard: string[] = [];
      store.subscribe((_, entries) => {
        for (const entry of entries) {
          Reflect.set(entry.event, "type", "vandalised");
        }
        throw new Error("a broken view");
      });
      store.subscribe((_, entries) => {
        heard.push(...entries.map((entry) => entry.event.type));
      });
      await startRun(store);
      assert.deepEqual(heard, ["run.started"]);
      assert.equal((await store.read(RUN))[0]?.event.type, "run.started");
    },
  },
  {
    name: "after close every use is refused with a typed error, and closing again is harmless",
    run: async ({ store }) => {
      await startRun(store);
      const last = append(store, { ...RUN, runId: "run-2" }, 0, [repliedFinal("x")]).catch(() => undefined);
      await store.close();
      await last;
      await store.close();
      const uses: (() => Promise<unknown>)[] = [
        () => append(store, RUN, 1, [repliedFinal("x")]),
        () => store.read(RUN),
        () => store.run(RUN),
        () => store.runs({ tenant: "default" }),
        () => store.unfinished(1),
        () => store.approval("default", "x"),
        () => store.approvals({ tenant: "default" }),
        () => store.budget("default", "x"),
        () => store.blob("x"),
        () => store.conversation("default", "x"),
        () => store.acquireLease(RUN, "x", 1, 1),
        () => store.releaseLease(RUN, "x"),
        () => store.audit.size(),
        () => store.audit.entries(0, 1),
        () => store.audit.checkpoints(),
        () => collect(store.audit.lines()),
        async () => store.subscribe(() => undefined),
      ];
      for (const use of uses) {
        await rejectsWith(use(), "BELAY_STORE_CLOSED");
      }
    },
  },
  {
    name: "everything is still there after the store is opened again",
    run: async ({ store, reopen }) => {
      if (reopen === undefined) {
        return;
      }
      await startRun(store, RUN, [
        repliedCalls(sampleCall("c-1")),
        approvalRequested("c-1", "apr-1"),
        budgetReserved("r-1", 10),
      ]);
      const lease = await store.acquireLease(RUN, "one", 1000, 0);
      await store.audit.saveCheckpoint("note", 1);
      const contents = async (from: typeof store) => ({
        entries: await from.read(RUN),
        run: await from.run(RUN),
        approval: await from.approval("default", "apr-1"),
        budget: await from.budget("default", "team"),
        root: await from.audit.root(),
        records: await from.audit.entries(0, 100),
        checkpoints: await from.audit.checkpoints(),
      });
      const before = await contents(store);
      const again = await reopen();
      assert.deepEqual(await contents(again), before);
      assert.equal((await again.acquireLease(RUN, "two", 1000, 1)).status, "busy");
      const next = await again.acquireLease(RUN, "two", 1000, 5000);
      assert.ok(next.status === "held" && lease.status === "held" && next.fence > lease.fence);
      await appendAll(again, RUN, 4, [{ type: "budget.released", reservationId: "r-1", budget: "team" }]);
      assert.equal((await again.budget("default", "team")).reserved, 0);
    },
  },
];
