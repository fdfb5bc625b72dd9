import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compaction, renderMessages } from "../../src/context/index.ts";
import { type AnyTool, createHarness, defineTool, type Message, type ModelMessage } from "../../src/index.ts";
import { calls, final, refundTool, searchTool, world } from "../engine/support.ts";
import { answer, STORES, toolTexts, worldOn } from "./support.ts";

function reader(value: (n: number) => unknown, change: Partial<AnyTool> = {}): AnyTool {
  return {
    ...defineTool({
      name: "look",
      description: "",
      level: "read",
      recovery: "read",
      input: z.strictObject({ n: z.int() }),
      execute: ({ n }) => value(n),
    }),
    ...change,
  };
}

describe.each(STORES)("a result of millions of characters, on the %s store", (_name, open) => {
  const HUGE: readonly (readonly [what: string, value: unknown])[] = [
    ["one text", "x".repeat(5_000_000)],
    ["text of three bytes a character", "\u20ac".repeat(1_900_000)],
    ["a long list", Array.from({ length: 200_000 }, (_, n) => n)],
    ["an object of many keys", Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, "value"]))],
  ];

  it.each(HUGE)("huge-result: %s is cut for the model with a mark, and whole in the store", async (_what, value) => {
    const store = await open();
    const setup = worldOn(store, [calls(["look", { n: 1 }]), final("ok")], { tools: () => [reader(() => value)] });
    const result = await setup.harness.run("go").result;
    const [shown = ""] = toolTexts(setup);
    expect(shown.length).toBeLessThan(20_000);
    expect(shown).toMatch(/\d+ characters left out by the harness/);
    const outcome = result.calls[0]?.outcome;
    const blob = outcome?.status === "ok" ? outcome.value.blob : undefined;
    expect(JSON.parse((await store.blob(blob?.sha256 ?? "")) ?? "null")).toEqual(value);
    expect(JSON.stringify(await setup.harness.entries(result)).length).toBeLessThan(60_000);
  });
});

describe("results at the edge", () => {
  it("huge-result: one that is too large even to be kept is a typed failure, and so is a very deep one", async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100; level += 1) deep = { deep };
    for (const value of ["x".repeat(17_000_000), deep]) {
      const setup = world([calls(["look", { n: 1 }]), final("ok")], { tools: () => [reader(() => value)] });
      const result = await setup.harness.run("go").result;
      expect(result.status).toBe("done");
      expect(result.calls[0]?.outcome).toMatchObject({ status: "failed", error: { code: "result_not_json" } });
    }
  });

  it("huge-result: many results of one turn leave the next prompt bounded", async () => {
    const wanted = Array.from({ length: 16 }, (_, n) => ["look", { n }] as const);
    const setup = world([calls(...wanted), final("ok")], { tools: () => [reader(() => "y".repeat(1_000_000))] });
    await setup.harness.run("go").result;
    expect(JSON.stringify(setup.model.requests[1]).length).toBeLessThan(16 * 20_000);
  });
});

/** Call ids that have no result, results that have no call, and ids with two results. */
function unpaired(messages: readonly ModelMessage[]): readonly string[] {
  const asked = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const answered = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
  return [
    ...asked.map(({ callId }) => callId).filter((id) => answered.filter((other) => other === id).length !== 1),
    ...answered.filter((id) => asked.filter(({ callId }) => callId === id).length !== 1),
  ];
}

/** A history of turns, each with its parallel calls and their results directly behind it. */
function history(turns: readonly (readonly number[])[]): readonly Message[] {
  return [
    { role: "user", text: "go" },
    ...turns.flatMap((sizes, turn): Message[] => {
      const called = sizes.map((_, index) => ({
        callId: `c${turn + 1}.${index + 1}`,
        tool: "look",
        args: { n: index },
        effect: "read" as const,
      }));
      return [
        { role: "assistant", text: "", calls: called },
        ...called.map(
          ({ callId }, index): Message => ({
            role: "tool",
            callId,
            tool: "look",
            outcome: { status: "ok", value: { json: "z".repeat(sizes[index] ?? 0) }, untrusted: index % 2 === 0 },
          }),
        ),
      ];
    }),
  ];
}

describe("compaction", () => {
  it("compaction-orphans: at every cut of forty messages with parallel calls each call keeps its result", () => {
    const messages = history(
      Array.from({ length: 10 }, (_, turn) => Array.from({ length: 3 }, () => 500 + turn * 200)),
    );
    expect(messages.length).toBeGreaterThanOrEqual(40);
    const shown = renderMessages(messages, {});
    for (let keepTurns = 0; keepTurns <= 11; keepTurns += 1) {
      const plans = compaction({ tokenThreshold: 0, keepTurns: keepTurns }).plan({
        messages: messages,
        shown: shown,
        summaries: {},
        tokens: 1,
      });
      const summaries = new Map(plans.map(({ callId, summary }) => [callId, summary]));
      const after = shown.map((message) =>
        message.role === "tool" ? { ...message, text: summaries.get(message.callId) ?? message.text } : message,
      );
      expect(unpaired(after)).toEqual([]);
      expect(after.map(({ role }) => role)).toEqual(shown.map(({ role }) => role));
      if (keepTurns < 10) expect(plans.length).toBeGreaterThan(0);
    }
  });

  it("compaction-orphans: whatever the history, and however often it is compacted", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(2_000), { minLength: 1, maxLength: 5 }), { maxLength: 12 }),
        fc.nat(6),
        fc.nat(6),
        (turns, first, second) => {
          const messages = history(turns);
          const shown = renderMessages(messages, {});
          const one = compaction({ tokenThreshold: 0, keepTurns: first }).plan({
            messages: messages,
            shown: shown,
            summaries: {},
            tokens: 1,
          });
          const known = Object.fromEntries(one.map(({ callId, summary }) => [callId, summary]));
          const two = compaction({ tokenThreshold: 0, keepTurns: second }).plan({
            messages: messages,
            shown: shown,
            summaries: known,
            tokens: 1,
          });
          const ids = [...one, ...two].map(({ callId }) => callId);
          // No result is summarised twice, and none that is not there.
          expect(new Set(ids).size).toBe(ids.length);
          const results = shown.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
          expect(ids.filter((id) => !results.includes(id))).toEqual([]);
        },
      ),
    );
  });

  it.each([50, 400, 3_000, 100_000])(
    "compaction-orphans: every request of a run above %i tokens is whole",
    async (tokenThreshold) => {
      const replies = Array.from({ length: 8 }, (_, n) => calls(["look", { n: n * 2 }], ["look", { n: n * 2 + 1 }]));
      const setup = world([...replies, final("ok")], {
        tools: () => [reader((n) => `${n} `.repeat(400))],
        agent: { compaction: compaction({ tokenThreshold, keepTurns: 2 }), limits: { stepsMax: 12 } },
      });
      const result = await setup.harness.run("go").result;
      expect(result.status).toBe("done");
      expect(setup.model.requests).toHaveLength(9);
      for (const { messages } of setup.model.requests) expect(unpaired(messages)).toEqual([]);
      const compacted = (await setup.types(result.runId)).filter((type) => type === "context.compacted");
      expect(compacted.length > 0).toBe(tokenThreshold < 100_000);
    },
  );

  it.each(STORES)(
    "compaction-keeps-pending: a question and its answer live through compactions, on the %s store",
    async (_name, open) => {
      const setup = worldOn(
        await open(),
        [
          calls(["search", { q: "a".repeat(2_000) }]),
          calls(["search", { q: "b".repeat(2_000) }], ["refund", { order: "A1", cents: 5000 }]),
          calls(["search", { q: "c".repeat(2_000) }]),
          final("ok"),
        ],
        {
          tools: (ledger) => [refundTool(ledger), searchTool(ledger)],
          agent: { compaction: compaction({ tokenThreshold: 100, keepTurns: 0 }), limits: { stepsMax: 8 } },
        },
      );
      const waiting = await setup.harness.run("go").result;
      expect(waiting.state.compactions.length).toBeGreaterThan(0);
      expect(waiting.approvals).toHaveLength(1);
      const result = await answer(createHarness(setup.options), waiting, "approved");
      expect(result.status).toBe("done");
      expect(setup.effects.filter((effect) => effect.startsWith("A1"))).toEqual(["A1:5000"]);
      expect(result.state.compactions.length).toBeGreaterThan(waiting.state.compactions.length);
      for (const { messages } of setup.model.requests) expect(unpaired(messages)).toEqual([]);
      expect(toolTexts(setup).join()).toContain(JSON.stringify({ refunded: 5000 }));
    },
  );
});
