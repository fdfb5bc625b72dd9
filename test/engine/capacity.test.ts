import { afterEach, describe, expect, it, vi } from "vitest";
import { CAPACITY } from "../../src/engine/capacity.ts";
import { createBudget } from "../../src/gate/index.ts";
import { type Alarm, createHarness, type ModelClient } from "../../src/index.ts";
import { findStuckRuns, STUCK } from "../../src/journal/index.ts";
import { approvalRequested, repliedCalls, runStarted, sampleCall } from "../../src/testing/index.ts";
import { calls, DANA, final, manualClock, world } from "./support.ts";

afterEach(() => vi.useRealTimers());

/** A model that answers when it is told to, and counts how many ask it at once. */
function gated() {
  const open: (() => void)[] = [];
  let most = 0;
  const model: ModelClient = {
    id: "gated",
    generate: async () => {
      const isOpen = new Promise<void>((resolve) => open.push(resolve));
      most = Math.max(most, open.length);
      await isOpen;
      return final("ok");
    },
  };
  return { model, open, most: () => most };
}

describe("a harness that drives many runs", () => {
  it("drives so many at once, the others in their order, and lets a cancellation pass them", async () => {
    const { model, open, most } = gated();
    const { harness } = world([], { options: { model, runsMax: 2 } });
    const handles = [1, 2, 3, 4].map((n) => harness.run("go", { runId: `r${n}` }));
    await expect.poll(() => open.length).toBe(2);
    const idle = await harness.start("go", { runId: "idle" });
    expect(await harness.cancel(idle, DANA)).toBe("recorded");
    expect((await harness.state(idle))?.termination?.kind).toBe("cancelled");
    expect((await harness.state({ tenant: "default", runId: "r3" }))?.step).toBe(0);
    for (let done = 0; done < 4; done += 1) {
      await expect.poll(() => open.length).toBeGreaterThan(0);
      open.shift()?.();
    }
    expect((await Promise.all(handles.map(({ result }) => result))).map(({ answer }) => answer)).toEqual(
      Array.from({ length: 4 }, () => "ok"),
    );
    expect(most()).toBe(2);
  });

  it("refuses numbers that are none", () => {
    for (const options of [{ runsMax: 0 }, { queueMax: 1.5 }, { runsMax: Number.NaN }]) {
      expect(() => world([], { options })).toThrow(expect.objectContaining({ code: "BELAY_LIMIT_INVALID" }));
    }
  });
});

describe("a queue that is full", () => {
  it("does not count points that somebody holds", async () => {
    const { harness, options } = world([], { options: { queueMax: 2 } });
    const budget = createBudget({ store: options.store, total: 100, clock: options.clock ?? manualClock() });
    for (const id of ["one", "two", "three"]) await budget.reserve({ points: 1, purpose: "export", actor: DANA, id });
    await harness.start("go", { runId: "a" });
    await expect(harness.start("go", { runId: "b" })).resolves.toMatchObject({ runId: "b" });
  });

  it("refuses what is new with a typed error before anything is written, and takes what it knows", async () => {
    const setup = world([], { options: { queueMax: 2 } });
    const { harness } = setup;
    await harness.start("go", { runId: "a", conversationId: "c" });
    await harness.start("go", { runId: "b" });
    const overloaded = { code: "BELAY_OVERLOADED", retryAfterMs: CAPACITY.overloadedRetryMs };
    await expect(harness.start("go", { runId: "d" })).rejects.toMatchObject(overloaded);
    await expect(harness.run("go").result).rejects.toMatchObject(overloaded);
    await expect(harness.message("new", "go")).rejects.toMatchObject(overloaded);
    await expect(harness.message("c", "and then?")).rejects.toMatchObject(overloaded);
    expect(await harness.start("go", { runId: "a", conversationId: "c" })).toMatchObject({ runId: "a" });
    expect(await setup.options.store.runs({ tenant: "default" })).toHaveLength(2);
    expect(await setup.types("a")).toEqual(["run.started"]);
  });

  it("does not count runs that wait for people, and has room again when runs have ended", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("ok")], { options: { queueMax: 1 } });
    expect((await setup.harness.run("go").result).status).toBe("waiting");
    // One whose worker died before it could note the pause waits for people all the same.
    const asked = [runStarted(), repliedCalls(sampleCall("c-1")), approvalRequested("c-1", "apr-x")];
    const entries = asked.map((event) => ({ at: setup.clock.now(), event }));
    await setup.options.store.commit({ run: { tenant: "default", runId: "unnoted" }, head: 0, entries });
    // A harness of another process has counted nothing yet.
    const next = createHarness(setup.options);
    const run = await next.start("go");
    await expect(createHarness(setup.options).start("go")).rejects.toMatchObject({ code: "BELAY_OVERLOADED" });
    expect((await next.advance(run)).status).toBe("done");
    expect(await createHarness(setup.options).start("go")).toBeDefined();
  });
});

describe("runs that stand still", () => {
  const OPTIONS = { notTakenMs: 60_000, stuckMs: 300_000 };

  it("are found by their last entry, without a look at those that wait or move", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }])]);
    const { harness, clock } = setup;
    const { store } = setup.options;
    const waiting = await harness.run("go", { runId: "waiting" }).result;
    await harness.start("go", { runId: "new" });
    await harness.start("go", { runId: "begun" });
    const begun = { tenant: "default", runId: "begun" };
    const segment = { type: "segment.started", worker: "w", fence: 1 } as const;
    await store.commit({ run: begun, head: 1, entries: [{ at: clock.now(), event: segment }] });
    const find = async () =>
      (await findStuckRuns(store, { ...OPTIONS, now: clock.now() })).map(({ runId, problem }) => [runId, problem]);
    clock.advance(59_999);
    expect(await find()).toEqual([]);
    clock.advance(1);
    expect(await find()).toEqual([["new", "not_taken"]]);
    await harness.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    clock.advance(240_000);
    expect((await find()).sort()).toEqual([
      ["begun", "stuck"],
      ["new", "not_taken"],
      ["waiting", "approved_not_taken"],
    ]);
    expect(await findStuckRuns(store, { ...OPTIONS, now: clock.now(), agents: new Set(["other"]) })).toEqual([]);
  });

  it("raise one alarm each from a worker that cannot take them up", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const alarms: Alarm[] = [];
    const clock = manualClock();
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("ok")], {
      options: { clock, onAlarm: (alarm) => alarms.push(alarm) },
    });
    const waiting = await setup.harness.run("go", { runId: "r" }).result;
    const serving = await setup.harness.work();
    // The answer comes from another process, and its wake is lost.
    const other = createHarness(setup.options);
    await other.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    clock.advance(STUCK.notTakenMs);
    await vi.advanceTimersByTimeAsync(STUCK.lookMs);
    await expect
      .poll(() => alarms)
      .toEqual([expect.objectContaining({ code: "APPROVED_NOT_TAKEN", run: { tenant: "default", runId: "r" } })]);
    await vi.advanceTimersByTimeAsync(3 * STUCK.lookMs);
    expect(alarms).toHaveLength(1);
    await serving.close();
    await vi.advanceTimersByTimeAsync(3 * STUCK.lookMs);
    expect(vi.getTimerCount()).toBe(0);
  });
});
