import { describe, expect, it } from "vitest";
import { effectsOfRun } from "../../src/gate/effects-of-run.ts";
import { createUndo } from "../../src/gate/index.ts";
import { type AnyTool, createHarness, type ReconcileRequest, type Store } from "../../src/index.ts";
import { verifyStoreAudit } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, DANA, final, refundTool, type World, world } from "./support.ts";

const RUN = { tenant: "default", runId: "r" };
const CUSTOMER = { kind: "customer", id: "c" } as const;

/** A run that ended because nobody knows whether its refund of 1 cent happened. */
async function inDoubt(change: Partial<AnyTool> = {}, limit = 5): Promise<World> {
  const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
    tools: (ledger) => [
      refundTool(ledger, {
        level: "write",
        recovery: "opaque",
        execute: () => {
          ledger.effects.push("A:1");
          throw new Error("connection lost");
        },
        compensate: (_args, result) => {
          ledger.effects.push(`back ${JSON.stringify(result)}`);
          return { back: true };
        },
        ...change,
      }),
    ],
    agent: {
      memoryTurnsMax: 2,
      budget: { points: { refund: 3 }, of: () => [{ budget: "shared", limit }] },
    },
  });
  await setup.harness.run("go", { runId: "r", conversationId: "cnv", principal: CUSTOMER }).result;
  return setup;
}

function says(outcome: ReconcileRequest["outcome"], change: Partial<ReconcileRequest> = {}): ReconcileRequest {
  return { run: RUN, callId: "c1.1", outcome, by: DANA, note: "bank statement", ...change };
}

async function balance(store: Store): Promise<readonly number[]> {
  const { used, reserved } = await store.budget("default", "shared");
  return [used, reserved];
}

describe("reconcile", () => {
  it("records what a person found out, spends the points in the same commit, and leaves the run ended", async () => {
    const setup = await inDoubt();
    const { harness, options } = setup;
    expect(await balance(options.store)).toEqual([0, 3]);
    expect((await options.store.run(RUN))?.inDoubt).toEqual(["c1.1"]);
    const before = await setup.types("r");
    setup.clock.advance(5000);
    expect(await harness.reconcile(says("happened", { value: { receipt: "R-7" } }))).toEqual({
      status: "recorded",
      run: RUN,
      callId: "c1.1",
      outcome: "happened",
    });
    expect((await setup.types("r")).slice(before.length)).toEqual(["call.reconciled", "budget.settled"]);
    expect(await balance(options.store)).toEqual([3, 0]);
    expect(await options.store.run(RUN)).not.toHaveProperty("inDoubt");
    expect((await harness.state(RUN))?.termination).toEqual({ kind: "outcome_unknown", callId: "c1.1" });
    expect((await harness.advance(RUN)).status).toBe("failed");
    expect(setup.effects).toEqual(["A:1"]);
    const [first] = (await options.store.audit.entries(0, 100)).filter(({ text }) => text.includes("call.reconciled"));
    expect(JSON.parse(first?.text ?? "{}")).toMatchObject({ callId: "c1.1", outcome: "happened", by: DANA });
    expect(first?.text).not.toContain("bank statement");
    expect(await verifyStoreAudit(options.store)).toMatchObject({ ok: true });
  });

  it("gives the points back when nothing happened, and the budget has room again", async () => {
    const { harness, options } = await inDoubt({}, 3);
    await harness.reconcile(says("did_not_happen"));
    expect(await balance(options.store)).toEqual([0, 0]);
    expect(await options.store.audit.differences()).toEqual([]);
  });

  it("keeps the first word: a second one is refused with what is stored, also when two come at once", async () => {
    const { harness, clock } = await inDoubt();
    const both = await Promise.all([harness.reconcile(says("happened")), harness.reconcile(says("did_not_happen"))]);
    expect(both.map(({ status }) => status).sort()).toEqual(["already_reconciled", "recorded"]);
    const stored = both.find(({ status }) => status === "already_reconciled");
    const recorded = both.find(({ status }) => status === "recorded");
    expect(stored).toMatchObject({
      outcome: (recorded as { outcome: string }).outcome,
      by: DANA,
      at: clock.now(),
      note: "bank statement",
    });
    expect(await harness.reconcile(says("happened", { by: { kind: "person", id: "lee" } }))).toEqual(stored);
  });

  it("is for persons only, and never for the one who asked for the run", async () => {
    const { harness, options } = await inDoubt({}, 9);
    for (const kind of ["agent", "customer", "system"] as const) {
      expect(await harness.reconcile(says("happened", { by: { kind, id: "x" } }))).toMatchObject({
        status: "not_permitted",
      });
    }
    const own = createHarness({ ...options, model: scriptedModel([calls(["refund", { order: "B", cents: 1 }])]) });
    await own.run("go", { runId: "own", principal: { kind: "person", id: "Dana " } }).result;
    const run = { ...RUN, runId: "own" };
    expect(await own.reconcile(says("happened", { run }))).toMatchObject({ status: "not_permitted" });
    expect((await options.store.run(run))?.inDoubt).toEqual(["c1.1"]);
  });

  it("names what it cannot reconcile, and refuses what is no request", async () => {
    const { harness } = await inDoubt();
    const settled = world([calls(["refund", { order: "A", cents: 1 }]), final("ok")]);
    await settled.harness.run("go", { runId: "r" }).result;
    expect(await settled.harness.reconcile(says("happened"))).toEqual({ status: "not_in_doubt" });
    expect(await harness.reconcile(says("happened", { callId: "c9.9" }))).toEqual({ status: "unknown_call" });
    expect(await harness.reconcile(says("happened", { run: { ...RUN, tenant: "else" } }))).toEqual({
      status: "unknown_run",
    });
    const junk: readonly object[] = [
      { note: " " },
      { by: { kind: "person", id: "" } },
      { outcome: "perhaps" },
      { outcome: "did_not_happen", value: 1 },
      { value: { a: Number.NaN } },
    ];
    for (const change of junk) {
      await expect(harness.reconcile({ ...says("happened"), ...change })).rejects.toMatchObject({
        code: "BELAY_DECISION_INVALID",
      });
    }
  });

  it("is what the next run of the conversation remembers, instead of 'unknown'", async () => {
    const { harness, options } = await inDoubt();
    const remembered = async (runId: string) => {
      const next = createHarness({ ...options, model: scriptedModel([final("ok")]) });
      await next.run("and?", { runId, conversationId: "cnv", principal: CUSTOMER }).result;
      return (await next.state({ ...RUN, runId }))?.memory[0]?.assistant;
    };
    expect(await remembered("before")).toContain(
      'nobody knows yet whether refund {"cents":1,"order":"A"} has happened',
    );
    await harness.reconcile(says("did_not_happen"));
    const after = await remembered("after");
    expect(after).toContain('refund {"cents":1,"order":"A"} has not happened, as a person has found out');
    expect(after).not.toContain("bank statement");
  });
});

describe("taking back a call that was in doubt", () => {
  const lee = { kind: "person", id: "lee" } as const;
  const undone = async ({ options }: World) => {
    const { agent, store, clock } = options;
    const rules = [{ id: "all", decide: () => ({ verdict: "allow", code: "OK", reason: "" }) as const }];
    const { calls: reported, isWhole } = await createUndo({
      agent: { ...agent, rules },
      store,
      ...(clock === undefined ? {} : { clock }),
    }).undo(RUN, { by: lee });
    return { isWhole, calls: reported.map(({ status, code }) => [status, code]) };
  };

  it("works once a person has said that it happened and what it gave", async () => {
    const setup = await inDoubt();
    expect(await undone(setup)).toEqual({ isWhole: false, calls: [["impossible", "OUTCOME_UNKNOWN"]] });
    await setup.harness.reconcile(says("happened", { value: { receipt: "R-7" } }));
    expect(await undone(setup)).toEqual({ isWhole: true, calls: [["undone", undefined]] });
    expect(setup.effects).toEqual(["A:1", 'back {"receipt":"R-7"}']);
  });

  it("has nothing to do when it did not happen, and says so when the value is missing", async () => {
    const not = await inDoubt();
    await not.harness.reconcile(says("did_not_happen"));
    expect(await undone(not)).toEqual({ isWhole: true, calls: [] });
    const bare = await inDoubt();
    await bare.harness.reconcile(says("happened"));
    expect(await undone(bare)).toEqual({ isWhole: false, calls: [["impossible", "VALUE_MISSING"]] });
    expect(bare.effects).toEqual(["A:1"]);
  });

  it("finds a value that is kept beside the journal", async () => {
    const setup = await inDoubt();
    const text = "x".repeat(100_000);
    await setup.harness.reconcile(says("happened", { value: text }));
    expect((await effectsOfRun(setup.options.store, RUN)).effects.map(({ result }) => result)).toEqual([text]);
    const event = (await setup.harness.entries(RUN)).find((entry) => entry.event.type === "call.reconciled")?.event;
    expect(event).toMatchObject({ value: { blob: { bytes: 100_002 } } });
    expect(await verifyStoreAudit(setup.options.store)).toMatchObject({ ok: true });
  });
});

describe("lookUp", () => {
  it("tells what the tool's own lookup says, and records nothing", async () => {
    let answer: "found" | "declined" | "absent" | "silent" = "silent";
    const setup = await inDoubt({
      recovery: "keyed",
      timeoutMs: 1000,
      lookup: () => {
        if (answer === "silent") throw new Error("down");
        if (answer === "found") return { receipt: "R-7" };
        return undefined;
      },
    });
    const { harness } = setup;
    const head = (await setup.types("r")).length;
    expect(await harness.lookUp(RUN, "c1.1")).toEqual({ status: "unavailable" });
    answer = "absent";
    expect(await harness.lookUp(RUN, "c1.1")).toMatchObject({ status: "too_early" });
    setup.clock.advance(11_000);
    expect(await harness.lookUp(RUN, "c1.1")).toEqual({ status: "found", outcome: "did_not_happen" });
    answer = "found";
    expect(await harness.lookUp(RUN, "c1.1")).toEqual({
      status: "found",
      outcome: "happened",
      value: { receipt: "R-7" },
    });
    expect(await harness.lookUp(RUN, "c9.9")).toEqual({ status: "unknown_call" });
    expect(await harness.lookUp({ ...RUN, runId: "none" }, "c1.1")).toEqual({ status: "unknown_run" });
    expect((await setup.types("r")).length).toBe(head);
    const { harness: without } = await inDoubt();
    expect(await without.lookUp(RUN, "c1.1")).toEqual({ status: "no_lookup" });
  });
});
