import assert from "node:assert/strict";
import type { RunEvent } from "../../core/index.ts";
import { rejectsWith } from "../conformance-case.ts";
import { budgetReserved, repliedFinal, runStarted } from "../sample-events.ts";
import { append, appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

const team = { tenant: "default", budget: "team" };

function settled(reservationId: string, amount: number): RunEvent {
  return { type: "budget.settled", reservationId, budget: "team", amount };
}

function released(reservationId: string): RunEvent {
  return { type: "budget.released", reservationId, budget: "team" };
}

/** Shared budgets: reserved before money is spent, also by many runs at once. */
export const BUDGET_CASES: readonly StoreCase[] = [
  {
    name: "a reservation that does not fit is refused and nothing of its commit is written",
    run: async ({ store }) => {
      await startRun(store, RUN, [budgetReserved("r-1", 60)]);
      const size = await store.audit.size();
      const refused = await append(store, RUN, 2, [repliedFinal("no"), budgetReserved("r-2", 41)]);
      assert.deepEqual(refused, { status: "refused", budget: "team", available: 40, reservationId: "r-2" });
      assert.equal((await store.read(RUN)).length, 2);
      assert.equal((await store.run(RUN))?.answer, undefined);
      assert.equal(await store.audit.size(), size);
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 0, reserved: 60 });
      await appendAll(store, RUN, 2, [budgetReserved("r-2", 40)]);
    },
  },
  {
    name: "reservations within one commit count together",
    run: async ({ store }) => {
      const refused = await append(store, RUN, 0, [runStarted(), budgetReserved("r-1", 60), budgetReserved("r-2", 60)]);
      assert.deepEqual(refused, { status: "refused", budget: "team", available: 40, reservationId: "r-2" });
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 0, reserved: 0 });
      assert.equal(await store.run(RUN), undefined);
    },
  },
  {
    name: "a hundred runs that reserve at once never exceed the limit",
    run: async ({ store }) => {
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          append(store, { tenant: "default", runId: `run-${index}` }, 0, [runStarted(), budgetReserved("r", 7)]),
        ),
      );
      assert.equal(results.filter((result) => result.status === "committed").length, 14);
      assert.equal(results.filter((result) => result.status === "refused").length, 86);
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 0, reserved: 98 });
    },
  },
  {
    name: "a settled reservation charges what was used, a released one nothing, and neither does so twice",
    run: async ({ store }) => {
      await startRun(store, RUN, [budgetReserved("r-1", 50), budgetReserved("r-2", 50)]);
      await appendAll(store, RUN, 3, [settled("r-1", 20), settled("r-1", 20), released("r-2"), released("r-2")]);
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 20, reserved: 0 });
      await appendAll(store, RUN, 7, [budgetReserved("r-3", 80), settled("r-3", 90)]);
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 110, reserved: 0 });
      const refused = await append(store, RUN, 9, [budgetReserved("r-4", 1)]);
      assert.deepEqual(refused, { status: "refused", budget: "team", available: 0, reservationId: "r-4" });
    },
  },
  {
    name: "a reservation belongs to its run: another run of the same id neither meets nor closes it",
    run: async ({ store }) => {
      await startRun(store, RUN, [budgetReserved("r-1", 10)]);
      await startRun(store, { ...RUN, runId: "run-2" }, [released("r-1"), budgetReserved("r-1", 10)]);
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 0, reserved: 20 });
    },
  },
  {
    name: "an open reservation cannot be made twice, and no amount can widen a budget",
    run: async ({ store }) => {
      await startRun(store, RUN, [budgetReserved("r-1", 10)]);
      for (const event of [
        budgetReserved("r-1", 10),
        budgetReserved("r-2", -5),
        budgetReserved("r-3", 0.5),
        settled("r-1", -1),
      ]) {
        await rejectsWith(append(store, RUN, 2, [event]), "BELAY_COMMIT_INVALID");
      }
      assert.deepEqual(await store.budget("default", "team"), { ...team, used: 0, reserved: 10 });
    },
  },
];
