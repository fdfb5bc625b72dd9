import assert from "node:assert/strict";
import type { Lease, RunKey, Store } from "../../journal/index.ts";
import { repliedFinal, runEnded, SAMPLE_AT } from "../sample-events.ts";
import { appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

function fenceOf(lease: Lease): number {
  assert.equal(lease.status, "held");
  return lease.status === "held" ? lease.fence : 0;
}

async function pauseRun(store: Store, run: RunKey, head: number, until: number): Promise<void> {
  fenceOf(await store.acquireLease(run, "pausing", 1000, 0));
  await store.releaseLease(run, "pausing", { head, until });
}

/** The right to advance a run. */
export const LEASE_CASES: readonly StoreCase[] = [
  {
    name: "a held lease is busy for others until it expires",
    run: async ({ store }) => {
      fenceOf(await store.acquireLease(RUN, "one", 1000, 5000));
      assert.deepEqual(await store.acquireLease(RUN, "two", 1000, 5999), { status: "busy", until: 6000 });
      fenceOf(await store.acquireLease(RUN, "two", 1000, 6000));
      assert.deepEqual(await store.acquireLease(RUN, "one", 1000, 6500), { status: "busy", until: 7000 });
    },
  },
  {
    name: "the holder prolongs its lease under the same fence; each new holding has a larger one",
    run: async ({ store }) => {
      const first = fenceOf(await store.acquireLease(RUN, "one", 1000, 0));
      assert.equal(fenceOf(await store.acquireLease(RUN, "one", 1000, 900)), first);
      assert.deepEqual(await store.acquireLease(RUN, "two", 1000, 1000), { status: "busy", until: 1900 });
      const second = fenceOf(await store.acquireLease(RUN, "two", 1000, 1900));
      const third = fenceOf(await store.acquireLease(RUN, "two", 1000, 9000));
      assert.ok(first < second && second < third, "an expired lease is a new holding");
    },
  },
  {
    name: "a released lease is free at once, its fence still grows, and only its holder releases it",
    run: async ({ store }) => {
      const first = fenceOf(await store.acquireLease(RUN, "one", 1000, 0));
      await store.releaseLease(RUN, "two");
      assert.equal((await store.acquireLease(RUN, "two", 1000, 1)).status, "busy");
      await store.releaseLease(RUN, "one");
      const second = fenceOf(await store.acquireLease(RUN, "two", 1000, 1));
      assert.ok(second > first);
    },
  },
  {
    name: "a pause hides its run from recovery until it is over, whatever page it is on",
    run: async ({ store }) => {
      await startRun(store, { ...RUN, runId: "run-0" });
      await pauseRun(store, RUN, await startRun(store), SAMPLE_AT + 10);
      await pauseRun(store, { ...RUN, runId: "run-2" }, await startRun(store, { ...RUN, runId: "run-2" }), 7);
      const runIds = async (...[limit, after, now]: Parameters<Store["unfinished"]>) =>
        (await store.unfinished(limit, after, now)).map(({ runId }) => runId);
      assert.deepEqual(await runIds(9, undefined, SAMPLE_AT + 9), ["run-0", "run-2"]);
      assert.deepEqual(await runIds(1, { ...RUN, runId: "run-0" }, SAMPLE_AT + 9), ["run-2"]);
      assert.deepEqual(await runIds(2, undefined, SAMPLE_AT + 10), ["run-0", "run-1"]);
      assert.deepEqual(await runIds(2), ["run-0", "run-1"]);
      assert.deepEqual(await runIds(2, RUN), ["run-2"]);
      assert.equal((await store.run(RUN))?.status, "running");
    },
  },
  {
    name: "a pause ends with the next commit, and a pause that has seen less, or is not the holder's, is not kept",
    run: async ({ store }) => {
      const isHidden = async () => (await store.unfinished(9, undefined, SAMPLE_AT)).length === 0;
      const head = await startRun(store);
      await pauseRun(store, RUN, head, SAMPLE_AT + 10);
      assert.ok(await isHidden());
      await appendAll(store, RUN, head, [repliedFinal("x")]);
      assert.ok(!(await isHidden()));
      await pauseRun(store, RUN, head, SAMPLE_AT + 10);
      assert.ok(!(await isHidden()), "a head of before");
      await store.acquireLease(RUN, "one", 1000, 5000);
      await store.releaseLease(RUN, "two", { head: head + 1, until: SAMPLE_AT + 10 });
      assert.ok(!(await isHidden()), "another's lease");
      await store.releaseLease(RUN, "one");
      assert.ok(!(await isHidden()), "no pause");
      await appendAll(store, RUN, head + 1, [runEnded()]);
      await pauseRun(store, RUN, head + 2, SAMPLE_AT);
      assert.deepEqual(await store.unfinished(9), [], "a run that is over");
    },
  },
  {
    name: "of many that ask at once exactly one holds the lease",
    run: async ({ store }) => {
      const leases = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.acquireLease(RUN, `worker-${index}`, 1000, 0)),
      );
      assert.equal(leases.filter((lease) => lease.status === "held").length, 1);
    },
  },
];
