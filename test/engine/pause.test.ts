import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import { createHarness, type RunEvent, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { calls, DANA, final, world } from "./support.ts";

afterEach(() => {
  vi.useRealTimers();
});

const ASK = calls(["refund", { order: "O-1", cents: 5000 }]);
const ASKS = [ASK, final("done")];

/** Counts how often the journal of a run is read. */
function counting(): { readonly store: Store; readonly reads: () => number } {
  const inner = createMemoryStore();
  let reads = 0;
  const store: Store = {
    ...inner,
    read: (...args) => {
      reads += 1;
      return inner.read(...args);
    },
  };
  return { store, reads: () => reads };
}

it("recovery reads no run that waits for people, until its question expires", async () => {
  const { store, reads } = counting();
  const { harness, options, clock } = world(ASKS, { options: { store } });
  const { approvals, runId } = await harness.run("refund").result;
  const again = createHarness(options);
  const before = reads();
  expect(await again.recover()).toBe(0);
  expect(reads()).toBe(before);
  clock.advance((approvals[0]?.expiresAt ?? 0) - clock.now());
  expect(await again.recover()).toBe(1);
  expect((await store.approval("default", approvals[0]?.approvalId ?? ""))?.status).toBe("expired");
  expect((await store.run({ tenant: "default", runId }))?.status).toBe("done");
});

it("recovery looks once at a run that waits and was left without a pause", async () => {
  const { store, reads } = counting();
  const { harness, options } = world(ASKS, { options: { store } });
  const run = await harness.run("refund").result;
  const head = (await store.read(run)).length;
  const note: RunEvent = { type: "segment.started", worker: "dead", fence: 1 };
  await store.commit({ run, head, entries: [{ at: options.clock?.now() ?? 0, event: note }] });
  const again = createHarness(options);
  expect(await again.recover()).toBe(1);
  const before = reads();
  expect(await again.recover()).toBe(0);
  expect(reads()).toBe(before);
});

it("an answer, and a cancellation that nobody acted on, end the pause", async () => {
  const { store } = counting();
  const { harness, options } = world([ASK, ASK, final("done")], { options: { store } });
  const [one, two] = [await harness.run("refund").result, await harness.run("refund").result];
  const by = DANA;
  await harness.decide({ approvalId: one.approvals[0]?.approvalId ?? "", answer: "rejected", by });
  const head = (await store.read(two)).length;
  const at = options.clock?.now() ?? 0;
  await store.commit({ run: two, head, entries: [{ at, event: { type: "run.cancel_requested", by } }] });
  expect(await createHarness(options).recover()).toBe(2);
  expect((await store.run(one))?.status).toBe("done");
  expect((await store.run(two))?.termination).toBe("cancelled");
});

it("a run that stands still with something left to do is not paused", async () => {
  const { store } = counting();
  const { harness, options } = world(ASKS, { options: { store } });
  const stop = new AbortController();
  const run = await harness.start("refund");
  stop.abort();
  await harness.advance(run, { signal: stop.signal }).catch(() => undefined);
  expect((await store.run(run))?.status).toBe("running");
  expect(await createHarness(options).recover()).toBe(1);
  expect((await store.run(run))?.status).toBe("waiting");
});

it("a worker expires a question of an earlier process, without holding it in memory", async () => {
  const { store } = counting();
  const { harness, options, clock } = world(ASKS, { options: { store } });
  const { approvals, ...run } = await harness.run("refund").result;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const working = await createHarness(options).work();
  vi.advanceTimersByTime(10_000);
  await nextTurn();
  expect((await store.run(run))?.status).toBe("waiting");
  clock.advance((approvals[0]?.expiresAt ?? 0) - clock.now());
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  await expect.poll(async () => (await store.run(run))?.status).toBe("done");
  await working.close();
});
