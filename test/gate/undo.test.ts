import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createActionGate, createUndo, defineAction, permissionBudget, type UndoReport } from "../../src/gate/index.ts";
import {
  type Agent,
  type AnyTool,
  allow,
  ask,
  createHarness,
  defineTool,
  type ModelReply,
  type Store,
  toolFailure,
} from "../../src/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, DANA, final, manualClock } from "../engine/support.ts";

const LEE = { kind: "person", id: "lee" } as const;
const RUN = { tenant: "default", runId: "r" };

/** A far side with accounts, that drops what it has done under a key. */
function farSide() {
  const done: string[] = [];
  const keys = new Set<string>();
  return {
    done,
    keys,
    once(key: string, what: string) {
      if (!keys.has(key)) done.push(what);
      keys.add(key);
    },
  };
}

type Far = ReturnType<typeof farSide>;

function payTool(far: Far, change: Partial<AnyTool> = {}): AnyTool {
  return {
    ...defineTool({
      name: "pay",
      description: "Pays",
      level: "write",
      recovery: "keyed",
      input: z.strictObject({ to: z.string() }),
      execute: ({ to }, { idempotencyKey }) => {
        far.once(idempotencyKey, `pay ${to}`);
        return { receipt: `receipt of ${to}` };
      },
      compensate: ({ to }, result, { idempotencyKey }) => {
        far.once(idempotencyKey, `unpay ${to} by ${(result as { receipt: string }).receipt}`);
        return { back: to };
      },
    }),
    ...change,
  };
}

function mailTool(far: Far): AnyTool {
  return defineTool({
    name: "mail",
    description: "Mails",
    level: "write",
    recovery: "opaque",
    input: z.strictObject({ to: z.string() }),
    execute: ({ to }) => {
      if (to === "void") throw new Error("cut off");
      far.done.push(`mail ${to}`);
      return null;
    },
  });
}

const ALLOW = { id: "all", decide: () => allow("OK", "test") };

function agentOf(tools: readonly AnyTool[], change: Partial<Agent> = {}): Agent {
  return { name: "payer", revision: "1", instructions: "", tools, rules: [ALLOW], ...change };
}

async function ranOnce(replies: readonly ModelReply[], agent: Agent, store: Store = createMemoryStore()) {
  const model = scriptedModel(replies);
  const result = await createHarness({ agent, model, store }).run("go", { runId: "r" }).result;
  return { agent, store, result };
}

const pay = (to: string) => ["pay", { to }] as const;
const summary = (report: UndoReport) => report.calls.map(({ callId, status, code }) => [callId, status, code ?? ""]);

describe("taking a run back", () => {
  it("undoes each effect once, the last one first, in runs of their own that the audit log holds", async () => {
    const far = farSide();
    const { agent, store } = await ranOnce(
      [calls(pay("a"), pay("b")), calls(pay("c")), final("ok")],
      agentOf([payTool(far)]),
    );
    far.done.length = 0;
    const undo = createUndo({ agent, store });
    const report = await undo.undo(RUN, { by: LEE });
    expect(far.done).toEqual(["unpay c by receipt of c", "unpay b by receipt of b", "unpay a by receipt of a"]);
    expect(summary(report)).toEqual([
      ["c2.1", "undone", ""],
      ["c1.2", "undone", ""],
      ["c1.1", "undone", ""],
    ]);
    expect(report.isWhole).toBe(true);
    expect([...far.keys].filter((key) => key.endsWith("/undo"))).toEqual([
      "default/r/c2.1/undo",
      "default/r/c1.2/undo",
      "default/r/c1.1/undo",
    ]);
    expect(await undo.undo(RUN, { by: LEE })).toEqual(report);
    expect(far.done).toHaveLength(3);
    expect(
      (await store.conversation("default", "r.undo")).map(({ principal, agent: name }) => [principal.id, name]),
    ).toEqual(Array.from({ length: 3 }, () => ["lee", "payer.undo"]));
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
  });

  it("keeps what was done up to a step, and goes on from there later", async () => {
    const far = farSide();
    const { agent, store } = await ranOnce(
      [calls(pay("a")), calls(pay("b")), calls(pay("c")), final("ok")],
      agentOf([payTool(far)]),
    );
    far.done.length = 0;
    const undo = createUndo({ agent, store });
    expect(summary(await undo.undo(RUN, { by: LEE, to: 2 }))).toEqual([["c3.1", "undone", ""]]);
    expect(summary(await undo.undo(RUN, { by: LEE, to: 0 })).map(([callId]) => callId)).toEqual([
      "c3.1",
      "c2.1",
      "c1.1",
    ]);
    expect(far.done.map((line) => line.slice(0, 7))).toEqual(["unpay c", "unpay b", "unpay a"]);
  });

  it("follows the order in which things were done, not the one in which they were asked for", async () => {
    const far = farSide();
    const asksFor = (name: string) => ({
      id: "ask",
      decide: ({ args, tool }: { args: unknown; tool: string }) =>
        tool === "pay" && (args as { to: string }).to === name ? ask("ASK", "x") : allow("OK", "x"),
    });
    const agent = agentOf([payTool(far)], { rules: [asksFor("a")] });
    const store = createMemoryStore();
    const harness = createHarness({ agent, store, model: scriptedModel([calls(pay("a"), pay("b")), final("ok")]) });
    const waiting = await harness.run("go", { runId: "r" }).result;
    await expect(createUndo({ agent, store }).undo(RUN, { by: LEE })).rejects.toThrow(
      expect.objectContaining({ code: "BELAY_ROLLBACK_UNFINISHED" }),
    );
    await harness.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    await harness.advance(waiting);
    expect(far.done).toEqual(["pay b", "pay a"]);
    await createUndo({ agent, store }).undo(RUN, { by: LEE });
    expect(far.done.slice(2).map((line) => line.slice(0, 7))).toEqual(["unpay a", "unpay b"]);
  });

  it("says what cannot be taken back, and takes back the rest", async () => {
    const far = farSide();
    const tools = [payTool(far), mailTool(far)];
    const { agent, store, result } = await ranOnce(
      [calls(pay("a")), calls(["mail", { to: "x" }]), calls(["mail", { to: "void" }]), final("never")],
      agentOf(tools),
    );
    expect(result.label).toBe("outcome_unknown");
    const report = await createUndo({ agent, store }).undo(RUN, { by: LEE });
    expect(summary(report)).toEqual([
      ["c3.1", "impossible", "OUTCOME_UNKNOWN"],
      ["c2.1", "impossible", "NO_COMPENSATION"],
      ["c1.1", "undone", ""],
    ]);
    expect(report.isWhole).toBe(false);
  });

  it("leaves reads and refused calls alone, and a run without effects is whole", async () => {
    const far = farSide();
    const rules = [{ id: "no", decide: () => ({ verdict: "deny", code: "NO", reason: "no" }) as const }];
    const { agent, store } = await ranOnce([calls(pay("a")), final("ok")], agentOf([payTool(far)], { rules }));
    expect(await createUndo({ agent, store }).undo(RUN, { by: LEE })).toEqual({ ...RUN, calls: [], isWhole: true });
  });

  it("is for the agent that did it", async () => {
    const far = farSide();
    const { agent, store } = await ranOnce([calls(pay("a")), final("ok")], agentOf([payTool(far)]));
    const other = createUndo({ agent: { ...agent, name: "other" }, store });
    await expect(other.undo(RUN, { by: LEE })).rejects.toThrow(
      expect.objectContaining({ code: "BELAY_RUN_OTHER_AGENT" }),
    );
    const unknown = createUndo({ agent, store }).undo({ ...RUN, tenant: "x" }, { by: LEE });
    await expect(unknown).rejects.toThrow(expect.objectContaining({ code: "BELAY_RUN_UNKNOWN" }));
  });
});

it("takes back what an action gate did, under the gate's own rules", async () => {
  const done: string[] = [];
  const change = (name: string, level: "write" | "irreversible") =>
    defineAction({
      name,
      description: "",
      level,
      recovery: "keyed",
      cost: 1,
      input: z.strictObject({}),
      execute: () => done.push(name),
      compensate: () => done.push(`not ${name}`),
    });
  const store = createMemoryStore();
  const budget = permissionBudget({ total: 10 });
  const gate = createActionGate({ actions: [change("note", "write"), change("erase", "irreversible")], budget, store });
  await gate.execute("note", {}, { actor: LEE, runId: "n" });
  const asked = await gate.execute("erase", {}, { actor: LEE, runId: "e" });
  await gate.approveAndExecute(asked.status === "approval_required" ? asked.approvalId : "", { actor: DANA });
  const undo = createUndo({ agent: gate.harness.agent, store });
  const reports = await Promise.all(["n", "e"].map((runId) => undo.undo({ ...RUN, runId }, { by: LEE })));
  expect(reports.map(({ calls: made }) => made.map(({ status }) => status))).toEqual([["undone"], ["waiting"]]);
  expect(done).toEqual(["note", "erase", "not note"]);
});

describe("the controls of a compensation", () => {
  const payOnly = { id: "pay", tools: ["pay"], decide: () => allow("OK", "test") };

  it("deny it when no rule allows it, and a rule may speak about it by name", async () => {
    const far = farSide();
    const { agent, store } = await ranOnce(
      [calls(pay("a")), final("ok")],
      agentOf([payTool(far)], { rules: [payOnly] }),
    );
    expect(summary(await createUndo({ agent, store }).undo(RUN, { by: LEE }))).toEqual([
      ["c1.1", "refused", "NO_RULE"],
    ]);
    expect(far.done).toEqual(["pay a"]);
    const ruled = {
      ...agent,
      rules: [payOnly, { id: "undo", tools: ["undo_pay"], decide: () => allow("OK", "test") }],
    };
    expect(summary(await createUndo({ agent: ruled, store }).undo(RUN, { by: LEE }))).toEqual([["c1.1", "undone", ""]]);
    expect(() => createHarness({ agent: ruled, store, model: scriptedModel([]) })).not.toThrow();
    const mistaken = { ...agent, rules: [{ ...payOnly, tools: ["undo_mail"] }] };
    expect(() => createHarness({ agent: mistaken, store, model: scriptedModel([]) })).toThrow(/undo_mail/);
  });

  it("ask a person who is not the one that wants it, and block what was done before", async () => {
    const far = farSide();
    const asking = {
      id: "undo",
      tools: ["undo_pay"],
      decide: ({ args }: { args: unknown }) =>
        (args as { args: { to: string } }).args.to === "b" ? ask("UNDO", "look first") : allow("OK", "x"),
    };
    const { agent, store } = await ranOnce(
      [calls(pay("a")), calls(pay("b")), final("ok")],
      agentOf([payTool(far)], { rules: [payOnly, asking] }),
    );
    const undo = createUndo({ agent, store });
    const waiting = await undo.undo(RUN, { by: LEE });
    expect(summary(waiting)).toEqual([
      ["c2.1", "waiting", "UNDO"],
      ["c1.1", "blocked", ""],
    ]);
    const approvalId = waiting.calls[0]?.approvalId ?? "";
    expect(await store.approval("default", approvalId)).toMatchObject({
      tool: "undo_pay",
      args: { run: "r", call: "c2.1", args: { to: "b" }, result: { receipt: "receipt of b" } },
    });
    const byLee = await undo.harness.decide({ approvalId, answer: "approved", by: LEE });
    expect(byLee.status).toBe("not_permitted");
    await undo.harness.decide({ approvalId, answer: "approved", by: DANA });
    expect((await createUndo({ agent, store }).undo(RUN, { by: LEE })).isWhole).toBe(true);
    expect(far.done.slice(2).map((line) => line.slice(0, 7))).toEqual(["unpay b", "unpay a"]);
  });

  it("take a person's no for good", async () => {
    const far = farSide();
    const rules = [payOnly, { id: "undo", tools: ["undo_pay"], decide: () => ask("UNDO", "look first") }];
    const { agent, store } = await ranOnce([calls(pay("a")), final("ok")], agentOf([payTool(far)], { rules }));
    const undo = createUndo({ agent, store });
    const waiting = await undo.undo(RUN, { by: LEE });
    await undo.harness.decide({ approvalId: waiting.calls[0]?.approvalId ?? "", answer: "rejected", by: DANA });
    for (let again = 0; again < 2; again += 1) {
      expect(summary(await undo.undo(RUN, { by: LEE }))).toEqual([["c1.1", "refused", "approval_rejected"]]);
    }
    expect(far.done).toEqual(["pay a"]);
  });

  it("let one that failed be tried again, under the same key", async () => {
    const far = farSide();
    let isUp = false;
    const keys: string[] = [];
    const tool = payTool(far, {
      compensate: (_args: unknown, _result: unknown, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return isUp ? null : toolFailure("DOWN", "the bank is closed");
      },
    });
    const { agent, store } = await ranOnce([calls(pay("a")), final("ok")], agentOf([tool]));
    const undo = createUndo({ agent, store });
    expect(summary(await undo.undo(RUN, { by: LEE }))).toEqual([["c1.1", "refused", "DOWN"]]);
    isUp = true;
    expect(summary(await undo.undo(RUN, { by: LEE }))).toEqual([["c1.1", "undone", ""]]);
    expect(keys).toEqual(["default/r/c1.1/undo", "default/r/c1.1/undo"]);
  });

  it("run a transactional tool's compensation inside the agent's transaction", async () => {
    const far = farSide();
    let depth = 0;
    const tool = payTool(far, {
      inTransaction: true,
      compensate: () => {
        far.done.push(`depth ${depth}`);
        return null;
      },
    });
    const transaction = <Value>(work: () => Value): Value => {
      depth += 1;
      try {
        return work();
      } finally {
        depth -= 1;
      }
    };
    const { agent, store } = await ranOnce([calls(pay("a")), final("ok")], agentOf([tool], { transaction }));
    expect((await createUndo({ agent, store }).undo(RUN, { by: LEE })).isWhole).toBe(true);
    expect(far.done).toEqual(["pay a", "depth 1"]);
  });
});

describe("a rollback that is disturbed", () => {
  class Crash extends Error {}

  it("after a crash at any point is finished by the next one, with nothing undone twice", async () => {
    const once = async (at: number) => {
      const clock = manualClock();
      const far = farSide();
      const store = createMemoryStore();
      const { agent } = await ranOnce([calls(pay("a")), calls(pay("b")), final("ok")], agentOf([payTool(far)]), store);
      far.done.length = 0;
      let count = 0;
      const point = (): void => {
        count += 1;
        if (count >= at) throw new Crash();
      };
      const mortal: Store = {
        ...store,
        commit: async (commit) => {
          point();
          const result = await store.commit(commit);
          point();
          return result;
        },
        releaseLease: async (...args) => {
          if (count < at) await store.releaseLease(...args);
        },
      };
      await createUndo({ agent, store: mortal, clock, leaseMs: 1000 })
        .undo(RUN, { by: LEE })
        .catch((error: unknown) => {
          if (!(error instanceof Crash)) throw error;
        });
      clock.advance(5000);
      const report = await createUndo({ agent, store, clock, leaseMs: 1000 }).undo(RUN, { by: LEE });
      return { report, done: far.done, points: count };
    };
    const whole = await once(Number.POSITIVE_INFINITY);
    expect(whole.points).toBeGreaterThanOrEqual(12);
    for (let at = 1; at <= whole.points; at += 1) {
      const { report, done } = await once(at);
      expect(report.isWhole, `death at ${at}`).toBe(true);
      expect(
        done.map((line) => line.slice(0, 7)),
        `death at ${at}`,
      ).toEqual(["unpay b", "unpay a"]);
    }
  });

  it("by another one at the same time does everything once", async () => {
    const far = farSide();
    let runs = 0;
    const tool = payTool(far, {
      compensate: async () => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 5));
        return null;
      },
    });
    const { agent, store } = await ranOnce([calls(pay("a")), calls(pay("b")), final("ok")], agentOf([tool]));
    const both = [createUndo({ agent, store }), createUndo({ agent, store })];
    const reports = await Promise.all(both.map((undo) => undo.undo(RUN, { by: LEE })));
    expect(reports.flatMap(summary).map(([, status]) => status)).toContain("undone");
    const [last] = await Promise.all(both.map((undo) => undo.undo(RUN, { by: LEE })));
    expect(last?.isWhole).toBe(true);
    expect(runs).toBe(2);
  });
});
