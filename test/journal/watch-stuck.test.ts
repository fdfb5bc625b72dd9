import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createMemoryStore, type Store, type StuckRun, watchStuck } from "../../src/journal/index.ts";
import { runStarted } from "../../src/testing/index.ts";

const clock = { now: () => Date.now() };
const LOOK_MS = 1000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function storeWithRuns(...agents: readonly string[]): Promise<{ readonly store: Store; looks(): number }> {
  const store = createMemoryStore();
  let looks = 0;
  for (const agent of agents) {
    const started = runStarted();
    const event = started.type === "run.started" ? { ...started, agent: { ...started.agent, name: agent } } : started;
    const run = { tenant: "default", runId: `run-of-${agent}` };
    await store.commit({ run, head: 0, entries: [{ at: Date.now(), event }] });
  }
  const unfinished: Store["unfinished"] = (...args) => {
    looks += 1;
    return store.unfinished(...args);
  };
  return { store: { ...store, unfinished }, looks: () => looks };
}

function watcher(agent: string, told: string[], notTakenMs = 5000) {
  return {
    clock,
    knows: (name: string) => name === agent,
    lookMs: LOOK_MS,
    notTakenMs,
    stuckMs: 60_000,
    onStuck: ({ runId, problem }: StuckRun) => told.push(`${agent}: ${runId} ${problem}`),
  };
}

it("all who watch a store share one look, and each is told once of its own runs", async () => {
  const { store, looks } = await storeWithRuns("one", "two", "nobody");
  const stop = new AbortController();
  const told: string[] = [];
  watchStuck(store, watcher("one", told), stop.signal);
  watchStuck(store, watcher("one", told), stop.signal);
  watchStuck(store, watcher("two", told, 20_000), stop.signal);
  await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
  expect(told).toEqual(["one: run-of-one not_taken"]);
  // The page with the runs, and the one after it that is empty.
  expect(looks()).toBe(20);
  await vi.advanceTimersByTimeAsync(20 * LOOK_MS);
  expect(told).toEqual(["one: run-of-one not_taken", "two: run-of-two not_taken"]);
  stop.abort();
});

it("looks on while anybody watches, and no longer", async () => {
  const { store, looks } = await storeWithRuns("one");
  const [first, second] = [new AbortController(), new AbortController()];
  watchStuck(store, watcher("one", []), first.signal);
  watchStuck(store, watcher("two", []), second.signal);
  first.abort();
  await vi.advanceTimersByTimeAsync(LOOK_MS);
  const before = looks();
  expect(before).toBeGreaterThan(0);
  second.abort();
  await vi.advanceTimersByTimeAsync(10 * LOOK_MS);
  expect(looks()).toBe(before);
  watchStuck(store, watcher("one", []), new AbortController().signal);
  await vi.advanceTimersByTimeAsync(LOOK_MS);
  expect(looks()).toBeGreaterThan(before);
});
