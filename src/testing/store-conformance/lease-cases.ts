import assert from "node:assert/strict";
import type { Lease } from "../../journal/index.ts";
import { RUN, type StoreCase } from "./store-case.ts";

function fenceOf(lease: Lease): number {
  assert.equal(lease.status, "held");
  return lease.status === "held" ? lease.fence : 0;
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
    name: "of many that ask at once exactly one holds the lease",
    run: async ({ store }) => {
      const leases = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.acquireLease(RUN, `worker-${index}`, 1000, 0)),
      );
      assert.equal(leases.filter((lease) => lease.status === "held").length, 1);
    },
  },
];
