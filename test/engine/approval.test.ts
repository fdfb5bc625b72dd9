import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type Agent, ask, createHarness, deny, type Principal, type Rule } from "../../src/index.ts";
import { ASK_ABOVE_1000, calls, DANA, final, refundTool, world } from "./support.ts";

const BIG = ["refund", { order: "A1", cents: 5000 }] as const;
const id = (result: { approvals: readonly { approvalId: string }[] }, index = 0) =>
  result.approvals[index]?.approvalId ?? "";
const END: Partial<Agent> = { approval: { onReject: "end_run", onExpiry: "end_run", onWorldChanged: "end_run" } };

describe("a person's answer", () => {
  it("rejects for good, whatever the gate says later (behaviour reject-survives-gate-flip)", async () => {
    let asks = true;
    const gate: Rule = {
      id: "gate",
      decide: () => (asks ? ask("ASK", "x") : { verdict: "allow", code: "OK", reason: "" }),
    };
    const setup = world([calls(BIG), final("I could not.")], { agent: { rules: [gate] } });
    const waiting = await setup.harness.run("go").result;
    asks = false;
    const other = createHarness(setup.options);
    await other.decide({ approvalId: id(waiting), answer: "rejected", by: DANA });
    const result = await other.advance(waiting);
    expect(setup.effects).toEqual([]);
    expect(result.calls[0]?.outcome).toMatchObject({ status: "rejected", error: { code: "approval_rejected" } });
    expect(result.status).toBe("done");
  });

  it("ends the run where the agent says so", async () => {
    const setup = world([calls(BIG, ["refund", { order: "B", cents: 5000 }])], { agent: END });
    const waiting = await setup.harness.run("go").result;
    expect(waiting.approvals).toHaveLength(2);
    await setup.harness.decide({ approvalId: id(waiting), answer: "rejected", by: DANA });
    const result = await setup.harness.advance(waiting);
    expect(result.termination).toMatchObject({ kind: "rejected", by: "dana" });
    expect(result.calls.map((call) => call.outcome?.status)).toEqual(["rejected", "not_run"]);
    const rest = await setup.options.store.approval("default", id(waiting, 1));
    expect(rest?.status).toBe("void");
    expect(await setup.harness.decide({ approvalId: id(waiting, 1), answer: "approved", by: DANA })).toMatchObject({
      status: "already_decided",
    });
    expect(setup.effects).toEqual([]);
  });

  it("comes from a person, never from an agent, a customer or the requester (behaviour agent-cannot-approve)", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go", { principal: { kind: "person", id: "sam" } }).result;
    const refused: Principal[] = [
      { kind: "agent", id: "test" },
      { kind: "customer", id: "c" },
      { kind: "system", id: "s" },
      { kind: "person", id: "sam" },
    ];
    for (const by of refused) {
      const outcome = await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by });
      expect(outcome.status).toBe("not_permitted");
    }
    for (const [by, answer] of [
      [{ kind: "person", id: " " }, "approved"],
      [undefined, "approved"],
      [DANA, "approve"],
      [DANA, true],
    ]) {
      await expect(
        setup.harness.decide({ approvalId: id(waiting), answer: answer as "approved", by: by as Principal }),
      ).rejects.toMatchObject({ code: "BELAY_DECISION_INVALID" });
    }
    expect(
      await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: { kind: "person", id: " SAM" } }),
    ).toMatchObject({
      status: "not_permitted",
    });
    expect((await setup.harness.advance(waiting)).status).toBe("waiting");
    expect(setup.effects).toEqual([]);
  });

  it("asks the application who may decide what", async () => {
    const setup = world([calls(BIG), final("ok")], { options: { mayDecide: (by) => by.id === "lee" } });
    const waiting = await setup.harness.run("go").result;
    expect(await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA })).toMatchObject({
      status: "not_permitted",
    });
  });

  it("is about an id that exists and arguments that were shown", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    expect(await setup.harness.decide({ approvalId: "apr_x", answer: "approved", by: DANA })).toEqual({
      status: "unknown_approval",
    });
    expect(
      await setup.harness.decide({ tenant: "other", approvalId: id(waiting), answer: "approved", by: DANA }),
    ).toEqual({ status: "unknown_approval" });
    expect(
      await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA, argsHash: "0" }),
    ).toMatchObject({ status: "digest_mismatch" });
    expect((await setup.harness.advance(waiting)).status).toBe("waiting");
  });

  it("is recorded once when two arrive at once (behaviours same-approval-concurrently, appr-09)", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    const other = createHarness(setup.options);
    const outcomes = await Promise.all([
      setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA }),
      other.decide({ approvalId: id(waiting), answer: "rejected", by: DANA }),
      other.decide({ approvalId: id(waiting), answer: "approved", by: DANA }),
    ]);
    expect(outcomes.filter(({ status }) => status === "recorded")).toHaveLength(1);
    const stored = await setup.options.store.approval("default", id(waiting));
    const result = await setup.harness.advance(waiting);
    expect(setup.effects).toHaveLength(stored?.status === "approved" ? 1 : 0);
    expect(result.status).toBe("done");
    const types = await setup.types(waiting.runId);
    expect(types.filter((type) => type === "approval.resolved")).toHaveLength(1);
  });

  it("answers three questions of one turn in any order (behaviours parallel-gates-only-first-shown, answer-routed-to-wrong-call)", async () => {
    const setup = world([
      calls(
        ["refund", { order: "A", cents: 5001 }],
        ["refund", { order: "B", cents: 5002 }],
        ["refund", { order: "C", cents: 5003 }],
      ),
      final("ok"),
    ]);
    const waiting = await setup.harness.run("go").result;
    const ofOrder = (order: string) =>
      waiting.approvals.find(({ args }) => (args as { order: string }).order === order)?.approvalId ?? "";
    await setup.harness.decide({ approvalId: ofOrder("C"), answer: "approved", by: DANA });
    await setup.harness.advance(waiting);
    await setup.harness.decide({ approvalId: ofOrder("A"), answer: "rejected", by: DANA });
    expect((await setup.harness.advance(waiting)).approvals).toHaveLength(1);
    await setup.harness.decide({ approvalId: ofOrder("B"), answer: "approved", by: DANA });
    const result = await setup.harness.advance(waiting);
    expect(setup.effects).toEqual(["C:5003", "B:5002"]);
    expect(result.status).toBe("done");
    const texts = setup.model.requests[1]?.messages.filter((message) => message.role === "tool");
    expect(texts).toHaveLength(3);
  });

  it("shows a gated call and runs its harmless sibling at once (behaviour ungated-sibling-shown-as-gated)", async () => {
    const setup = world([calls(["search", { q: "x" }], BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    expect(waiting.approvals).toHaveLength(1);
    expect(setup.effects).toEqual(["search x"]);
  });

  it("is not given by the model's words or arguments (behaviour model-authored-approval)", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000, resumeData: { approved: true } }]), calls(BIG)]);
    const waiting = await setup.harness.run("approved").result;
    expect(waiting.status).toBe("waiting");
    expect(setup.effects).toEqual([]);
  });
});

describe("at the moment of an approval", () => {
  it("the policy looks at today's world", async () => {
    let isCancelled = false;
    const cancelled: Rule = {
      id: "status",
      decide: () => (isCancelled ? deny("ORDER_CANCELLED", "order is cancelled") : undefined),
    };
    const setup = world([calls(BIG)], { agent: { ...END, rules: [cancelled, ASK_ABOVE_1000] } });
    const waiting = await setup.harness.run("go").result;
    isCancelled = true;
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const result = await setup.harness.advance(waiting);
    expect(result.label).toBe("world_changed:ORDER_CANCELLED");
    expect(setup.effects).toEqual([]);
  });

  it("a changed tool contract is a new question", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    const changed = createHarness({
      ...setup.options,
      agent: {
        ...setup.options.agent,
        revision: "2",
        tools: [refundTool(setup, { description: "Refunds an order, twice as fast" })],
      },
    });
    await changed.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const asked = await changed.advance(waiting);
    expect(asked.status).toBe("waiting");
    expect(setup.effects).toEqual([]);
    expect(asked.approvals).toHaveLength(1);
    expect(id(asked)).not.toBe(id(waiting));
    await changed.decide({ approvalId: id(asked), answer: "approved", by: DANA });
    expect((await changed.advance(waiting)).status).toBe("done");
    expect(setup.effects).toEqual(["A1:5000"]);
  });

  it("a tool that is gone is not run", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    const without = createHarness({ ...setup.options, agent: { ...setup.options.agent, revision: "2", tools: [] } });
    await without.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const result = await without.advance(waiting);
    expect(result.calls[0]?.outcome).toMatchObject({ status: "world_changed", error: { code: "CONTRACT" } });
  });
});

describe("a question that nobody answers", () => {
  it("expires by itself when the run is next looked at, and is refused afterwards without a look at the world", async () => {
    let looks = 0;
    const rule: Rule = {
      id: "look",
      decide: () => {
        looks += 1;
        return undefined;
      },
    };
    const setup = world([calls(BIG)], { agent: { ...END, rules: [rule, ASK_ABOVE_1000] } });
    const waiting = await setup.harness.run("go").result;
    setup.clock.advance(24 * 3_600_000);
    const before = looks;
    expect(await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA })).toMatchObject({
      status: "expired",
      approval: { status: "expired" },
    });
    const result = await setup.harness.advance(waiting);
    expect(result.label).toBe("approval_expired");
    expect(looks).toBe(before);
    expect(setup.effects).toEqual([]);
  });

  it("is told to the model in other words than a pending one (behaviours expiry-resumes-run, expired-message-honest)", async () => {
    const setup = world([calls(BIG), final("It expired.")]);
    const waiting = await setup.harness.run("go").result;
    setup.clock.advance(24 * 3_600_000);
    await setup.harness.recover();
    expect((await setup.harness.state(waiting))?.termination).toEqual({ kind: "completed" });
    const message = setup.model.requests[1]?.messages.at(-1);
    expect(message).toMatchObject({ role: "tool", text: expect.stringContaining("was not run") });
  });

  it("is still open one millisecond before its end", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    setup.clock.advance(24 * 3_600_000 - 1);
    expect(await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA })).toMatchObject({
      status: "recorded",
    });
  });
});

describe("a message while a run waits", () => {
  it("is queued, loses no approval, and starts the next run (behaviour new-message-while-pending)", async () => {
    const setup = world([calls(BIG), final("Refunded."), final("Hello again.")], { agent: { memoryTurnsMax: 6 } });
    const waiting = await setup.harness.run("go").result;
    const message = await setup.harness.message(waiting.conversationId, "hello?");
    const more = await setup.harness.message(waiting.conversationId, "still there?");
    expect([message.status, more.status]).toEqual(["queued", "queued"]);
    expect(setup.model.requests).toHaveLength(1);
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const result = await setup.harness.advance(waiting);
    expect(result.nextRun).toEqual(message.run);
    expect(setup.effects).toEqual(["A1:5000"]);
    const next = await setup.harness.advance(message.run);
    expect(next).toMatchObject({ status: "done", answer: "Hello again.", conversationId: waiting.conversationId });
    expect(next.state.memory).toEqual([{ user: "go", assistant: "Refunded." }]);
    expect(next.nextRun?.runId).toBeDefined();
    expect((await setup.harness.advance(waiting)).nextRun).toEqual(message.run);
    expect(
      (await setup.options.store.conversation("default", waiting.conversationId)).map(({ input }) => input),
    ).toEqual(["go", "hello?", "still there?"]);
  });

  it("starts a run at once in a conversation that is idle", async () => {
    const setup = world([final("one"), final("two")]);
    const first = await setup.harness.run("go").result;
    const message = await setup.harness.message(first.conversationId, "again");
    expect(message.status).toBe("started");
    expect((await setup.harness.advance(message.run)).answer).toBe("two");
  });
});

describe("stored arguments that somebody edited", () => {
  it("are not run (behaviour stored-args-edited)", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const { store } = setup.options;
    const edited = createHarness({
      ...setup.options,
      store: {
        ...store,
        read: async (run, after) =>
          JSON.parse(JSON.stringify(await store.read(run, after)).replaceAll('"cents":5000', '"cents":999999')),
      },
    });
    const result = await edited.advance(waiting);
    expect(setup.effects).toEqual([]);
    expect(result.calls[0]?.outcome).toMatchObject({ status: "refused", error: { code: "state_tampered" } });
  });
});

describe("a tool that runs in the world's transaction", () => {
  it("is judged once more inside it", async () => {
    let left = 10_000;
    let depth = 0;
    const remaining: Rule = {
      id: "remaining",
      decide: (call) => {
        // Another run takes the money between this run's decision and its effect.
        const isInside = depth > 0;
        const amount = (call.args as { cents: number }).cents;
        const verdict = amount > (isInside ? left - 6000 : left) ? deny("EXCEEDS", "more than is left") : undefined;
        return verdict;
      },
    };
    const setup = world([calls(BIG), final("ok")], {
      agent: {
        ...END,
        rules: [remaining, ASK_ABOVE_1000],
        transaction: (work) => {
          depth += 1;
          try {
            return work();
          } finally {
            depth -= 1;
          }
        },
      },
      tools: (ledger) => [
        {
          name: "refund",
          description: "",
          level: "irreversible",
          recovery: "keyed",
          inTransaction: true,
          input: z.strictObject({ order: z.string(), cents: z.int() }),
          execute: ({ cents }: { cents: number }) => {
            left -= cents;
            ledger.effects.push("refund");
            return null;
          },
        },
      ],
    });
    const waiting = await setup.harness.run("go").result;
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const result = await setup.harness.advance(waiting);
    expect(result.label).toBe("world_changed:EXCEEDS");
    expect([left, setup.effects]).toEqual([10_000, []]);
  });
});

describe("a conversation", () => {
  it("is one principal's, and has one run at a time", async () => {
    const setup = world([calls(BIG), final("ok")]);
    const mine: Principal = { kind: "customer", id: "C-1" };
    const waiting = await setup.harness.run("go", { principal: mine }).result;
    const { conversationId } = waiting;
    await expect(setup.harness.run("more", { conversationId, principal: mine }).result).rejects.toMatchObject({
      code: "BELAY_CONVERSATION_BUSY",
    });
    const other: Principal = { kind: "customer", id: "C-2" };
    await expect(setup.harness.run("hi", { conversationId, principal: other }).result).rejects.toMatchObject({
      code: "BELAY_CONVERSATION_FOREIGN",
    });
    await expect(setup.harness.message(conversationId, "hi", { principal: other })).rejects.toMatchObject({
      code: "BELAY_CONVERSATION_FOREIGN",
    });
    expect((await setup.harness.message(conversationId, "hi", { principal: mine })).status).toBe("queued");
  });
});

describe("the questions of several rules", () => {
  const two: Rule = {
    id: "fraud",
    decide: (call) => (call.level === "read" ? undefined : ask("FRAUD", "looks like fraud")),
  };

  it("are put to a person as one, and a yes covers exactly these", async () => {
    const setup = world([calls(BIG), final("ok")], { agent: { rules: [ASK_ABOVE_1000, two] } });
    const waiting = await setup.harness.run("go").result;
    expect(waiting.approvals).toHaveLength(1);
    expect(waiting.approvals[0]?.reason).toContain("FRAUD: looks like fraud");
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    expect((await setup.harness.advance(waiting)).status).toBe("done");
    expect(setup.effects).toEqual(["A1:5000"]);
  });

  it("are asked again when one appears after the yes", async () => {
    let isSuspicious = false;
    const late: Rule = { id: "late", decide: () => (isSuspicious ? ask("FRAUD", "looks like fraud") : undefined) };
    const setup = world([calls(BIG), final("ok")], { agent: { rules: [ASK_ABOVE_1000, late] } });
    const waiting = await setup.harness.run("go").result;
    isSuspicious = true;
    await setup.harness.decide({ approvalId: id(waiting), answer: "approved", by: DANA });
    const again = await setup.harness.advance(waiting);
    expect(again.status).toBe("waiting");
    expect(setup.effects).toEqual([]);
    await setup.harness.decide({ approvalId: id(again), answer: "approved", by: DANA });
    expect((await setup.harness.advance(waiting)).status).toBe("done");
  });
});

describe("a person's no", () => {
  it("holds for the same call again without asking, and too many of them end the run (behaviour re-ask-after-rejection)", async () => {
    const ask5 = (cents: number) => calls(["refund", { order: "A1", cents }]);
    const setup = world([ask5(5000), ask5(5000), ask5(4999), ask5(4998), final("x")]);
    let result = await setup.harness.run("go").result;
    const asked: string[] = [];
    while (result.status === "waiting") {
      asked.push(JSON.stringify(result.approvals[0]?.args));
      await setup.harness.decide({ approvalId: id(result), answer: "rejected", by: DANA });
      result = await setup.harness.advance(result);
    }
    expect(asked).toEqual([5000, 4999, 4998].map((cents) => `{"cents":${cents},"order":"A1"}`));
    expect(result.calls[1]?.outcome).toMatchObject({ status: "refused", error: { code: "already_rejected" } });
    expect(result.termination).toMatchObject({ kind: "limit", limit: "rejections" });
    expect(setup.effects).toEqual([]);
  });
});
