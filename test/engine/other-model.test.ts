import { describe, expect, it } from "vitest";
import { type Alarm, createHarness, type HarnessOptions, type ModelClient } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, DANA, final, world } from "./support.ts";

const REFUND = calls(["refund", { order: "A", cents: 5000 }]);

/** A run of the model `scripted` that a person has said yes to, and a harness over the same store with another model. */
async function approvedRun(change: Partial<HarnessOptions> = {}) {
  const setup = world([REFUND, final("by the first")]);
  const waiting = await setup.harness.run("go").result;
  const approvalId = waiting.approvals[0]?.approvalId ?? "";
  await setup.harness.decide({ approvalId, answer: "approved", by: DANA });
  const alarms: Alarm[] = [];
  const model: ModelClient = scriptedModel([final("by the second"), final("by the second")], { id: "second" });
  const other = createHarness({ ...setup.options, model, onAlarm: (alarm) => alarms.push(alarm), ...change });
  return { setup, run: { tenant: waiting.tenant, runId: waiting.runId }, other, alarms };
}

const REFUSED = { code: "BELAY_RUN_OTHER_MODEL" };

describe("a run that has asked another model", () => {
  it("is left as it is, with one alarm, and goes on with its own", async () => {
    const { setup, run, other, alarms } = await approvedRun();
    const before = await setup.harness.entries(run);
    await expect(other.advance(run)).rejects.toMatchObject(REFUSED);
    await expect(other.advance(run)).rejects.toMatchObject(REFUSED);
    expect(await setup.harness.entries(run)).toEqual(before);
    expect(setup.effects).toEqual([]);
    expect(alarms).toEqual([expect.objectContaining({ code: "RUN_OTHER_MODEL", run })]);
    expect(alarms[0]?.detail).toContain("scripted");
    expect(alarms[0]?.detail).toContain("second");
    expect(await setup.harness.advance(run)).toMatchObject({ status: "done", answer: "by the first" });
  });

  it("keeps no other run from going on, at recovery and in a worker", async () => {
    const { setup, run, other, alarms } = await approvedRun();
    const own = await other.start("mine");
    expect(await other.recover()).toBe(2);
    expect((await setup.harness.state(own))?.termination?.kind).toBe("completed");
    const serving = await other.work();
    const later = await other.start("mine too");
    await expect.poll(async () => (await setup.harness.state(later))?.termination?.kind).toBe("completed");
    await serving.close();
    expect((await setup.harness.state(run))?.termination).toBeUndefined();
    expect(alarms.map(({ code }) => code)).toEqual(["RUN_OTHER_MODEL"]);
  });

  it("goes on with the other one where that is allowed, which is recorded, and is a run of that one from then on", async () => {
    const { setup, run, other } = await approvedRun({ allowOtherModel: true });
    expect(await other.advance(run)).toMatchObject({ status: "done", answer: "by the second" });
    const asked = (await setup.harness.entries(run)).flatMap(({ event }) =>
      event.type === "model.requested" ? [event.model] : [],
    );
    expect(asked).toEqual(["scripted", "second"]);
    expect((await setup.harness.state(run))?.model).toBe("second");
  });

  it("can be looked at while it waits, and cancelled", async () => {
    const setup = world([REFUND]);
    const waiting = await setup.harness.run("go").result;
    const other = createHarness({ ...setup.options, model: scriptedModel([], { id: "second" }) });
    expect(await other.advance(waiting)).toMatchObject({ status: "waiting" });
    expect(await other.cancel(waiting, DANA)).toBe("recorded");
    expect((await setup.harness.state(waiting))?.termination?.kind).toBe("cancelled");
  });

  it("is no run of given calls, and none whose journal names no model", async () => {
    const { setup } = await approvedRun();
    const { clock, store } = setup.options;
    const other = createHarness({ ...setup.options, model: scriptedModel([final("on it")], { id: "second" }) });
    const given = await setup.harness.start("go", {
      calls: [{ tool: "refund", args: { json: { order: "B", cents: 1 } } }],
    });
    expect(await other.advance(given)).toMatchObject({ status: "done" });
    const started = await setup.harness.start("old");
    const [first] = await store.read(started);
    if (first?.event.type !== "run.started") throw new Error("the run has another first event");
    const { model: _none, ...event } = first.event;
    const old = { tenant: "default", runId: "old" };
    await store.commit({ run: old, head: 0, entries: [{ at: clock?.now() ?? 0, event }] });
    expect(await other.advance(old)).toMatchObject({ status: "done", answer: "on it" });
  });
});
