import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { JsonValue, RunEvent } from "../../core/index.ts";
import { CLOCK_TOLERANCE_MS, EVENT_BYTES_MAX, EVENT_SCHEMA } from "../../journal/index.ts";
import { rejectsWith } from "../conformance-case.ts";
import { callSettled, repliedFinal, runStarted, SAMPLE_AT } from "../sample-events.ts";
import { append, appendAll, RUN, type StoreCase, startRun } from "./store-case.ts";

const segment: RunEvent = { type: "segment.started", worker: "w", fence: 1 };

/** Commits, conflicts, and what an entry may hold. */
export const COMMIT_CASES: readonly StoreCase[] = [
  {
    name: "a commit at head 0 creates the run, and its entries are numbered from 1",
    run: async ({ store }) => {
      assert.deepEqual(await append(store, RUN, 0, [runStarted(), segment]), { status: "committed", head: 2 });
      const entries = await store.read(RUN);
      assert.deepEqual(
        entries.map(({ seq, at, schema }) => ({ seq, at, schema })),
        [1, 2].map((seq) => ({ seq, at: SAMPLE_AT, schema: EVENT_SCHEMA })),
      );
      assert.deepEqual(entries[0]?.event, runStarted());
    },
  },
  {
    name: "a commit at any other head than the stored one is a conflict and writes nothing",
    run: async ({ store }) => {
      assert.deepEqual(await append(store, RUN, 3, [segment]), { status: "conflict", head: 0 });
      await startRun(store);
      for (const head of [0, 2, 99]) {
        assert.deepEqual(await append(store, RUN, head, [segment]), { status: "conflict", head: 1 });
      }
      assert.equal((await store.read(RUN)).length, 1);
      assert.equal((await store.run(RUN))?.head, 1);
    },
  },
  {
    name: "of two commits to one head in the same turn exactly one wins",
    run: async ({ store }) => {
      await startRun(store);
      const results = await Promise.all([
        append(store, RUN, 1, [repliedFinal("one")]),
        append(store, RUN, 1, [repliedFinal("two")]),
      ]);
      assert.deepEqual(results.map((result) => result.status).sort(), ["committed", "conflict"]);
      assert.equal((await store.read(RUN)).length, 2);
    },
  },
  {
    name: "a commit that is refused or invalid takes back only itself among those of the same turn",
    run: async ({ store }) => {
      await startRun(store);
      const others = [1, 2, 3].map((number) => ({ tenant: "default", runId: `other-${number}` }));
      const results = await Promise.allSettled([
        startRun(store, others[0]),
        append(store, RUN, 0, [segment]),
        startRun(store, others[1]),
        append(store, { tenant: "default", runId: "unstarted" }, 0, [segment]),
        startRun(store, others[2]),
      ]);
      assert.deepEqual(
        results.map((result) => result.status),
        ["fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled"],
      );
      for (const run of others) {
        assert.equal((await store.read(run)).length, 1);
      }
      assert.equal(await store.audit.size(), 4);
    },
  },
  {
    name: "fifty runs committed in one turn are all there",
    run: async ({ store }) => {
      const runs = Array.from({ length: 50 }, (_, index) => ({ tenant: "default", runId: `run-${index}` }));
      await Promise.all(runs.map((run) => startRun(store, run, [repliedFinal(run.runId)])));
      const answers = await Promise.all(runs.map(async (run) => (await store.run(run))?.answer));
      assert.deepEqual(
        answers,
        runs.map((run) => run.runId),
      );
    },
  },
  {
    name: "reading again gives the same entries, and `after` leaves out those already seen",
    run: async ({ store }) => {
      await startRun(store, RUN, [segment, repliedFinal("done")]);
      assert.deepEqual(await store.read(RUN), await store.read(RUN));
      assert.deepEqual(
        (await store.read(RUN, 2)).map((entry) => entry.seq),
        [3],
      );
      assert.deepEqual(await store.read(RUN, 3), []);
      assert.deepEqual(await store.read({ tenant: "default", runId: "nobody" }), []);
    },
  },
  {
    name: "changing what was passed in changes nothing that is stored",
    run: async ({ store }) => {
      const args: { list: number[] } = { list: [1] };
      const entries = [
        { at: SAMPLE_AT, event: runStarted() },
        { at: SAMPLE_AT, event: callSettled("c-1", args) },
      ];
      const run = { ...RUN };
      const committing = store.commit({ run, head: 0, entries });
      args.list.push(2);
      entries.pop();
      run.runId = "elsewhere";
      assert.deepEqual(await committing, { status: "committed", head: 2 });
      args.list.push(3);
      assert.deepEqual((await store.read(RUN))[1]?.event, callSettled("c-1", { list: [1] }));
    },
  },
  {
    name: "changing what was returned changes nothing that is stored",
    run: async ({ store }) => {
      await startRun(store);
      const before = { entries: await store.read(RUN), row: await store.run(RUN) };
      for (const returned of [await store.read(RUN), [await store.run(RUN)], await store.runs({ tenant: "default" })]) {
        vandalise(returned);
      }
      assert.deepEqual({ entries: await store.read(RUN), row: await store.run(RUN) }, before);
    },
  },
  {
    name: "undefined properties are left out, and every JSON value comes back as it was",
    run: async ({ store }) => {
      const json: JsonValue = {
        text: "ünïcødé 🛒 \u0000\u2028",
        list: [null, true, -1.5, 1e21, ""],
        ["__proto__"]: { deep: {} },
      };
      const withUndefined = { type: "segment.started", worker: "w", fence: 1, agent: undefined } as unknown as RunEvent;
      await startRun(store, RUN, [withUndefined, callSettled("c-1", json)]);
      const [, second, third] = await store.read(RUN);
      assert.deepEqual(second?.event, segment);
      assert.ok(second !== undefined && !("agent" in second.event));
      assert.deepEqual(third?.event, callSettled("c-1", json));
    },
  },
  {
    name: "what JSON cannot hold is refused and writes nothing",
    run: async ({ store }) => {
      await startRun(store);
      const values: unknown[] = ["\ud800", Number.NaN, new Date(0), new Map(), 1n, [undefined], () => 1];
      for (const value of values) {
        await rejectsWith(
          append(store, RUN, 1, [segment, callSettled("c-1", value as JsonValue)]),
          "BELAY_EVENT_INVALID",
        );
      }
      assert.equal((await store.read(RUN)).length, 1);
    },
  },
  {
    name: "an event above the cap is refused with a typed error, one just below is kept",
    run: async ({ store }) => {
      await startRun(store);
      await rejectsWith(append(store, RUN, 1, [repliedFinal("x".repeat(1_000_000))]), "BELAY_EVENT_TOO_LARGE");
      await rejectsWith(
        append(store, RUN, 1, [repliedFinal("ü".repeat(EVENT_BYTES_MAX / 2))]),
        "BELAY_EVENT_TOO_LARGE",
      );
      await appendAll(store, RUN, 1, [repliedFinal("x".repeat(EVENT_BYTES_MAX - 1000))]);
      assert.equal((await store.read(RUN)).length, 2);
    },
  },
  {
    name: "a commit that no run can begin with, or that has no events, time or tenant of its own, is refused",
    run: async ({ store }) => {
      await rejectsWith(append(store, RUN, 0, []), "BELAY_COMMIT_INVALID");
      await rejectsWith(append(store, RUN, 0, [segment]), "BELAY_COMMIT_INVALID");
      await rejectsWith(append(store, RUN, -1, [runStarted()]), "BELAY_COMMIT_INVALID");
      await rejectsWith(append(store, RUN, 0, [runStarted()], 0.5), "BELAY_COMMIT_INVALID");
      await rejectsWith(append(store, RUN, 0, [runStarted("other")]), "BELAY_COMMIT_INVALID");
      await rejectsWith(append(store, { tenant: "", runId: "x" }, 0, [runStarted("")]), "BELAY_COMMIT_INVALID");
      assert.deepEqual(await store.runs({ tenant: "default" }), []);
    },
  },
  {
    name: "a commit from a clock that was set back is refused, a small step back is not",
    run: async ({ store }) => {
      await startRun(store);
      await appendAll(store, RUN, 1, [segment], SAMPLE_AT - CLOCK_TOLERANCE_MS);
      const late = append(store, RUN, 2, [segment], SAMPLE_AT - CLOCK_TOLERANCE_MS - 1);
      await rejectsWith(late, "BELAY_CLOCK_BACKWARDS");
      assert.equal((await store.read(RUN)).length, 2);
    },
  },
  {
    name: "blobs are kept under their hash, and only with the commit that brought them",
    run: async ({ store }) => {
      const text = "a large result 🛒";
      const sha256 = hash("sha256", text);
      const entries = [{ at: SAMPLE_AT, event: runStarted() }];
      assert.equal(
        (await store.commit({ run: RUN, head: 9, entries, blobs: new Map([[sha256, text]]) })).status,
        "conflict",
      );
      assert.equal(await store.blob(sha256), undefined);
      await rejectsWith(
        store.commit({ run: RUN, head: 0, entries, blobs: new Map([[sha256, "other"]]) }),
        "BELAY_COMMIT_INVALID",
      );
      await store.commit({ run: RUN, head: 0, entries, blobs: new Map([[sha256, text]]) });
      const again = { run: { ...RUN, runId: "run-2" }, head: 0, entries, blobs: new Map([[sha256, text]]) };
      assert.equal((await store.commit(again)).status, "committed");
      assert.equal(await store.blob(sha256), text);
    },
  },
];

function vandalise(value: unknown): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    vandalise(item);
    // A frozen object refuses, which is as good.
    Reflect.set(value, key, "vandalised");
  }
}
