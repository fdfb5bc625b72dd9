import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { createSqliteWaker, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { advanceWake } from "../../src/cli/drive-wakes.ts";
import { driveShared } from "../../src/cli/serve-apps.ts";
import { createBudget } from "../../src/gate/index.ts";
import { type Alarm, createHarness, type HarnessOptions, type ModelClient, type Waker } from "../../src/index.ts";
import { createMemoryStore, type RunKey, type Store } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const MINUTES = 60_000;
const agent = { name: "test", revision: "1", instructions: "Answer.", tools: [], rules: [] };
const answering: ModelClient = { id: "scripted", generate: async () => ({ kind: "final", text: "done" }) };

afterEach(() => {
  vi.useRealTimers();
});

/** One app of a project, served with the wake-ups that its processes share. */
async function serving(store: Store, waker: Waker, change: Partial<HarnessOptions> = {}) {
  const alarms: string[] = [];
  const errors: string[] = [];
  const stop = new AbortController();
  const onAlarm = ({ code }: Alarm): number => alarms.push(code);
  const harness = createHarness({ agent, model: answering, store, waker, onAlarm, ...change });
  const app = { name: "test", description: "", harness, labelOf: (code: string) => code };
  const driving = await driveShared(new Map([["test", app]]), store, waker, {
    onError: ({ runId }) => errors.push(runId),
    onAlarm: (text) => alarms.push(text),
    signal: stop.signal,
  });
  onTestFinished(() => driving.close());
  return { harness, alarms, errors };
}

async function sqliteStore(): Promise<Store> {
  const store = await openSqliteStore(join(makeFolder({}), "belay.db"));
  onTestFinished(() => store.close());
  return store;
}

const RUN: RunKey = { tenant: "default", runId: "r" };
const statusOf = async (store: Store): Promise<string | undefined> => (await store.run(RUN))?.status;

it("a wake-up that comes while a dead worker's lease still runs is not lost", async () => {
  const store = await sqliteStore();
  const { harness, errors } = await serving(store, createSqliteWaker(store));
  await store.acquireLease(RUN, "dead", 700, Date.now());
  await harness.start("go", { runId: RUN.runId });
  await expect.poll(() => statusOf(store), { timeout: 10_000 }).toBe("done");
  // To wait for a lease is no failure.
  expect(errors).toEqual([]);
});

it("a run of an agent that no app has keeps its wake-up for another process", async () => {
  const store = await sqliteStore();
  const waker = createSqliteWaker(store);
  await serving(store, waker);
  const other = { ...agent, name: "other" };
  const elsewhere = createHarness({ agent: other, model: answering, store, waker });
  await elsewhere.start("go", { runId: RUN.runId });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await statusOf(store)).toBe("running");
  await serving(store, waker, { agent: other });
  await expect.poll(() => statusOf(store), { timeout: 10_000 }).toBe("done");
});

it("a run of another model is told of once, and others go on", async () => {
  const store = await sqliteStore();
  const waker = createSqliteWaker(store);
  const first = createHarness({ agent, model: answering, store });
  await first.start("go", { runId: RUN.runId });
  const { harness, alarms, errors } = await serving(store, waker, {
    model: scriptedModel([{ kind: "final", text: "mine" }], { id: "second" }),
  });
  await waker.wake({ run: RUN, why: "retry", key: "again" });
  await harness.start("go", { runId: "mine" });
  await expect.poll(async () => (await store.run({ ...RUN, runId: "mine" }))?.status, { timeout: 10_000 }).toBe("done");
  expect(await statusOf(store)).toBe("running");
  expect(alarms).toEqual(["RUN_OTHER_MODEL"]);
  expect(errors).toEqual([]);
});

it("says of a run that stands still", async () => {
  vi.useFakeTimers();
  const store = createMemoryStore();
  await createHarness({ agent, model: answering, store }).start("go", { runId: RUN.runId });
  const silent: Waker = {
    promises: { serialPerRun: true, redeliveryMs: 1000, survives: "machine" },
    wake: async () => undefined,
    serve: async () => ({ close: async () => undefined }),
  };
  // Another worker has it, and does nothing.
  await store.acquireLease(RUN, "another", 100 * MINUTES, Date.now());
  const { alarms } = await serving(store, silent);
  await vi.advanceTimersByTimeAsync(2 * MINUTES);
  expect(alarms).toEqual([expect.stringMatching(/^RUN_NOT_TAKEN: run r: no worker has begun for \d+ s$/)]);
});

it(
  "points that somebody holds are no work for a worker, for recovery or for doctor",
  async () => {
    const folder = makeFolder();
    mkdirSync(join(folder, ".belay"), { recursive: true });
    const store = await openSqliteStore(join(folder, ".belay/belay.db"));
    const actor = { kind: "person", id: "ann" } as const;
    const past = { now: () => Date.now() - 20 * MINUTES };
    const budget = createBudget({ store, total: 10, name: "bank", clock: past });
    expect(await budget.reserve({ points: 3, purpose: "export", actor, id: "held" })).toMatchObject({
      status: "reserved",
    });
    const held = { tenant: "default", runId: "held" };
    expect(await advanceWake(store, () => undefined, held, new AbortController().signal)).toBe(true);
    const recovered = await belay(folder, ["recover", "--json"]);
    expect([recovered.code, jsonOf(recovered)]).toEqual([0, []]);
    expect(recovered.stderr).toContain("held: points held by the account bank-account");
    const { code, stdout } = await belay(folder, ["doctor"]);
    expect(stdout).toContain("no run stands still");
    expect(code).toBe(0);
    expect(await budget.settle("held", 2)).toEqual({ status: "settled", points: 2 });
    await store.close();
  },
  TIMEOUT_MS,
);
