import { describe, expect, it } from "vitest";
import { BelayError, createHarness } from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { DANA, world } from "./support.ts";

const given = (...requested: readonly (readonly [string, unknown])[]) =>
  requested.map(([tool, json]) => ({ tool, args: { json } }));
const SMALL = { order: "A", cents: 1 };

describe("a run of given calls", () => {
  it("makes them through every control, asks no model and ends", async () => {
    const { harness, effects, model, types } = world([]);
    const calls = given(["refund", SMALL], ["search", { q: "x" }], ["refund", { order: 5 }], ["hack", {}]);
    const result = await harness.run("do it", { runId: "r", calls }).result;
    expect(result).toMatchObject({ status: "done", label: "completed" });
    expect(result.calls.map(({ outcome }) => outcome?.status)).toEqual(["ok", "ok", "refused", "refused"]);
    expect([...effects].sort()).toEqual(["A:1", "search x"]);
    expect(model.requests).toEqual([]);
    expect((await types("r")).slice(0, 3)).toEqual(["run.started", "model.requested", "model.replied"]);
    expect(result.usage).toMatchObject({ costNanoUsd: 0, costUnknown: false });
    expect(result.answer).toBeUndefined();
  });

  it("waits for a person and goes on in another process, which never saw the calls", async () => {
    const { harness, effects, options } = world([]);
    const calls = given(["refund", { order: "A", cents: 5000 }]);
    const waiting = await harness.run("do it", { calls }).result;
    const other = createHarness(options);
    await other.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    expect(await other.advance(waiting)).toMatchObject({ status: "done" });
    expect(effects).toEqual(["A:5000"]);
  });

  it("takes arguments that JSON cannot hold for wrong ones", async () => {
    const { harness, effects } = world([]);
    const cyclic: Record<string, unknown> = {};
    cyclic["self"] = cyclic;
    const calls = given(["refund", 5n], ["refund", undefined], ["refund", cyclic], ["refund", () => 1]);
    const result = await harness.run("do it", { calls }).result;
    expect(result.calls.map(({ outcome }) => outcome?.status)).toEqual(Array.from({ length: 4 }, () => "refused"));
    expect(effects).toEqual([]);
  });

  it("is recorded whole or not at all", async () => {
    const store = createMemoryStore();
    const { harness } = world([], { options: { store } });
    const run = await harness.start("do it", { calls: given(["refund", SMALL]) });
    expect((await store.read(run)).map(({ event }) => event.type)).toEqual([
      "run.started",
      "model.requested",
      "model.replied",
    ]);
    await expect(harness.start("something else", { ...run, calls: [] })).rejects.toThrow(BelayError);
  });
});

describe("inspectArguments", () => {
  it("is recorded with each call, and stops nothing when it fails", async () => {
    const notes = async (inspectArguments: () => never | { found: number }) => {
      const { harness, effects } = world([], { agent: { inspectArguments } });
      const { calls } = await harness.run("do it", { calls: given(["refund", SMALL]) }).result;
      return [effects.length, calls[0]?.call.notes];
    };
    expect(await notes(() => ({ found: 1 }))).toEqual([1, [{ found: 1 }]]);
    const failing = () => {
      throw new Error("secret");
    };
    expect(await notes(failing)).toEqual([1, [{ inspection: "failed" }]]);
  });
});
