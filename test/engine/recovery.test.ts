import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createInProcessWaker } from "../../src/engine/in-process-waker.ts";
import { type AnyTool, createHarness, defineTool, type Rule } from "../../src/index.ts";
import { ASK_ABOVE_1000, calls, DANA, final, world } from "./support.ts";

describe("a worker", () => {
  it("takes up what another process started, and what a person answered, without being told how", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("ok"), final("second")]);
    const first = await setup.harness.start("go", { runId: "one" });
    const worker = createHarness({ ...setup.options, waker: createInProcessWaker() });
    const serving = await worker.work();
    expect((await setup.harness.state(first))?.phase).toBe("AWAIT_APPROVAL");
    const [approval] = await setup.options.store.approvals({ tenant: "default", status: "pending" });
    await worker.decide({ approvalId: approval?.approvalId ?? "", answer: "approved", by: DANA });
    await expect.poll(async () => (await worker.state(first))?.termination?.kind).toBe("completed");
    const second = await worker.start("again");
    await expect.poll(async () => (await worker.state(second))?.termination?.kind).toBe("completed");
    await serving.close();
    expect(setup.effects).toEqual(["A:5000"]);
  });

  it("goes on with a run whose lease a dead worker still held when it began", async () => {
    const clock = { now: () => Date.now() };
    const setup = world([final("ok")], { options: { clock, leaseMs: 200 } });
    const run = await setup.harness.start("go");
    await setup.options.store.acquireLease(run, "dead", 200, clock.now());
    const serving = await setup.harness.work();
    expect((await setup.harness.state(run))?.step).toBe(0);
    await expect.poll(async () => (await setup.harness.state(run))?.termination?.kind).toBe("completed");
    await serving.close();
  });

  it("is woken by the expiry of a question", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("expired")], {
      agent: { approval: { ttlMs: 60 } },
      options: { clock: { now: () => Date.now() }, waker: createInProcessWaker() },
    });
    const serving = await setup.harness.work();
    const run = await setup.harness.start("go");
    await expect.poll(async () => (await setup.harness.state(run))?.termination?.kind).toBe("completed");
    await serving.close();
    expect(setup.effects).toEqual([]);
    expect(await setup.types(run.runId)).toContain("approval.expired");
  });

  it("refuses a run of another agent with a typed error", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }])]);
    const run = await setup.harness.run("go").result;
    const other = createHarness({ ...setup.options, agent: { ...setup.options.agent, name: "other" } });
    await expect(other.advance(run)).rejects.toMatchObject({ code: "BELAY_RUN_OTHER_AGENT" });
    await expect(other.advance({ tenant: "default", runId: "none" })).rejects.toMatchObject({
      code: "BELAY_RUN_UNKNOWN",
    });
  });

  it("records a new revision of the agent in the segment that it starts", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    const newer = createHarness({ ...setup.options, agent: { ...setup.options.agent, revision: "2" } });
    await newer.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    const result = await newer.advance(waiting);
    expect(result.state.agent.revision).toBe("2");
    expect(setup.effects).toEqual(["A:5000"]);
  });
});

describe("a queryable call whose process died", () => {
  it("waits until the intent is older than the timeout, then looks up, and never acts on silence", async () => {
    let answers: "silent" | "absent" | "found" = "silent";
    const happened: string[] = [];
    const tool = (dies: boolean): AnyTool =>
      defineTool({
        name: "pay",
        description: "",
        level: "write",
        recovery: "queryable",
        timeoutMs: 10_000,
        input: z.strictObject({}),
        execute: async () => {
          if (dies) return await new Promise<null>(() => undefined);
          happened.push("paid");
          return null;
        },
        lookup: () => {
          if (answers === "silent") throw new Error("down");
          return answers === "found" ? { paid: true } : undefined;
        },
      });
    const rule: Rule = { id: "r", decide: () => ({ verdict: "allow", code: "OK", reason: "" }) };
    const setup = world([calls(["pay", {}]), final("ok")], { tools: () => [tool(true)], agent: { rules: [rule] } });
    // The process dies here: the tool never answers and nobody prolongs the lease.
    void setup.harness.run("go", { runId: "r" }).result;
    await expect.poll(() => setup.types("r")).toContain("call.started");
    const run = { tenant: "default", runId: "r" };
    const next = createHarness({ ...setup.options, agent: { ...setup.options.agent, tools: [tool(false)] } });
    expect((await next.advance(run)).status).toBe("busy");
    setup.clock.advance(9_000);
    setup.clock.advance(16_000);
    expect((await next.advance(run)).status).toBe("waiting");
    expect(happened).toEqual([]);
    answers = "absent";
    expect((await next.advance(run)).status).toBe("done");
    expect(happened).toEqual(["paid"]);
  });
});

describe("what cannot be set up", () => {
  it("is refused before anything runs", () => {
    expect(() => world([], { agent: { rules: [{ id: "r", tools: ["nope"], decide: () => undefined }] } })).toThrow(
      /nope/,
    );
    expect(() => world([], { agent: { rules: [ASK_ABOVE_1000, ASK_ABOVE_1000] } })).toThrow(/auto_limit/);
    const inTransaction = (ledger: { effects: string[] }): readonly AnyTool[] => [
      defineTool({
        name: "t",
        description: "",
        level: "write",
        recovery: "keyed",
        inTransaction: true,
        input: z.strictObject({}),
        execute: () => ledger.effects.length,
      }),
    ];
    expect(() => world([], { tools: inTransaction })).toThrow(/transaction/);
  });

  it("refuses messages that no run may start with", async () => {
    const { harness } = world([], { agent: { inputCharactersMax: 10 } });
    await expect(harness.run("").result).rejects.toMatchObject({ code: "BELAY_INPUT_EMPTY" });
    await expect(harness.run("x".repeat(11)).result).rejects.toMatchObject({ code: "BELAY_INPUT_TOO_LONG" });
    await expect(harness.run("\ud800").result).rejects.toMatchObject({ code: "BELAY_INPUT_INVALID" });
    await expect(harness.run("ok", { offeredTools: ["x"] }).result).rejects.toMatchObject({
      code: "BELAY_TOOL_UNKNOWN",
    });
    await expect(harness.run("ok", { tenant: "a b" }).result).rejects.toMatchObject({ code: "BELAY_ID_INVALID" });
  });
});

describe("a run's handle", () => {
  it("is an async iterable of its entries and a promise of the result", async () => {
    const { harness } = world([calls(["search", { q: "a" }]), final("ok")]);
    const handle = harness.run("go");
    const types: string[] = [];
    for await (const { event } of handle) types.push(event.type);
    expect(types.at(0)).toBe("run.started");
    expect(types.at(-1)).toBe("run.ended");
    expect((await handle.result).status).toBe("done");
    const again: number[] = [];
    for await (const { seq } of handle) again.push(seq);
    expect(again).toEqual(types.map((_, index) => index + 1));
  });

  it("starts a named run once", async () => {
    const { harness, effects } = world([calls(["search", { q: "a" }]), final("ok")]);
    const both = await Promise.all([
      harness.run("go", { runId: "r" }).result,
      harness.run("go", { runId: "r" }).result,
    ]);
    expect(both.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(effects).toEqual(["search a"]);
    await expect(harness.run("other", { runId: "r" }).result).rejects.toMatchObject({ code: "BELAY_RUN_EXISTS" });
  });
});

describe("recovery", () => {
  it("goes on with the other runs when one cannot", async () => {
    const alarms: string[] = [];
    const setup = world([final("one"), final("two")], { options: { onAlarm: ({ code }) => alarms.push(code) } });
    for (const runId of ["a", "b"]) await setup.harness.start("go", { runId });
    const { store } = setup.options;
    const broken = createHarness({
      ...setup.options,
      store: {
        ...store,
        read: async (run, after) => {
          if (run.runId === "a") throw new Error("unreadable");
          return store.read(run, after);
        },
      },
    });
    expect(await broken.recover()).toBe(2);
    expect(alarms).toEqual(["RUN_FAILED"]);
    expect((await setup.harness.state({ tenant: "default", runId: "b" }))?.termination).toEqual({ kind: "completed" });
  });
});
