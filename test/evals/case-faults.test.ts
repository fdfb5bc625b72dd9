import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../src/config.ts";
import { type EvalCase, openSuite, runCase } from "../../src/evals/index.ts";
import { argumentShare, trajectoryMatches } from "../../src/evals/tool-match.ts";

const shopCases = await openSuite(shop, "guards");
const caseOf = (id: string): EvalCase => shopCases.cases.find((each) => each.id === id) as EvalCase;
const run = (evalCase: EvalCase, without: readonly string[] = []) =>
  runCase({ app: shop, suite: shopCases, case: evalCase, without });

describe("a script", () => {
  it("may hold several calls in one reply, and costs what its text costs", async () => {
    const result = await run(caseOf("T05"));
    expect(result.reasons).toEqual([]);
    expect(result.calls.map(({ step, status }) => [step, status])).toEqual([
      [1, "executed"],
      [1, "blocked"],
      [1, "blocked"],
    ]);
    expect(result.costNanoUsd).toBeGreaterThan(0);
  });
});

describe("what the model saw", () => {
  it("is held against texts that it should and should not see", async () => {
    const seen = await run({ ...caseOf("S03"), expect: { seen: ["nobody said this"], notSeen: ["</untrusted>"] } });
    expect(seen.reasons).toEqual(['the model was not shown "nobody said this"', 'the model was shown "</untrusted>"']);
  });

  it("is that of the last turn alone", async () => {
    const result = await run({
      ...caseOf("M02"),
      expect: { notSeen: ["Where is O-1003?"], seen: ["Where is O-1002?"] },
    });
    expect(result.reasons).toEqual([]);
  });
});

describe("caps", () => {
  it("fail a case that takes more steps or money than it may, and one of unknown price", async () => {
    const result = await run({ ...caseOf("R28"), expect: { modelCallsMax: 1, costUsdMax: 1e-9 } });
    expect(result.reasons).toEqual([
      "model calls are 2, at most 1 expected",
      expect.stringMatching(/^the cost is \$0\.\d+, at most \$1e-9 expected$/),
    ]);
    const { prices: _, ...priceless } = { ...shop, agent: shop.agent };
    const agent = (world: never, now: () => number) => {
      const { limits, ...rest } = shop.agent(world, now);
      const { costUsdMax: _cap, ...others } = limits ?? {};
      return { ...rest, limits: others };
    };
    const app: AnyApp = { ...priceless, agent };
    const unknown = await runCase({ app, suite: shopCases, case: { ...caseOf("R28"), expect: { costUsdMax: 1 } } });
    expect(unknown.reasons).toEqual(["the cost is unknown, at most $1 expected"]);
  });
});

describe("faults of the runner", () => {
  it.each([
    ["a tool that is not there", { when: "start", kind: "tool_result", tool: "nope", value: 1 }, /tool must be one of/],
    ["no value", { when: "start", kind: "tool_result", tool: "get_order" }, /value must say/],
    [
      "a fill of something that is no object",
      { when: "start", kind: "tool_result", tool: "get_order", value: 1, fillCharacters: 9 },
      /needs a value that is an object/,
    ],
    [
      "a time that is none",
      { when: "start", kind: "slow_tool", tool: "get_order", ms: -1 },
      /ms must be a whole number/,
    ],
    ["no new arguments", { when: "start", kind: "edit_stored_args" }, /args must say/],
    ["a kind that nobody knows", { when: "start", kind: "meteor" }, /the shop knows/],
  ] as const)("are refused: %s", async (_, fault, message) => {
    await expect(run({ ...caseOf("R28"), faults: [fault] })).rejects.toThrow(message);
  });

  it("between decision and effect need an agent that writes in a transaction", async () => {
    const app: AnyApp = createStockroomApp();
    const suite = await openSuite(app, "guards");
    const faults = [{ when: "effect", kind: "staff_restock", sku: "SKU-1015", quantity: 10 }] as const;
    const [evalCase] = suite.cases;
    const start = runCase({ app, suite, case: { ...(evalCase as EvalCase), faults } });
    await expect(start).rejects.toMatchObject({ code: "BELAY_EVAL_CASE" });
    const unknown = runCase({ app, suite, case: { ...(evalCase as EvalCase), probe: "nope" } });
    await expect(unknown).rejects.toThrow(/It has: ask_before_restock\./);
  });

  it("let the process die after the effect, which then happens once and is recorded in a second attempt", async () => {
    const events: string[] = [];
    const result = await runCase({
      app: shop,
      suite: shopCases,
      case: caseOf("D01"),
      onJournal: (_run, entries) => events.push(...entries.map(({ event }) => event.type)),
    });
    expect(result.reasons).toEqual([]);
    expect(events.filter((type) => type === "call.started")).toHaveLength(2);
    expect(events.filter((type) => type === "segment.started")).toHaveLength(2);
  });

  it("change what is stored and leave the audit log as it was", async () => {
    const result = await run(caseOf("P10"));
    expect([result.passed, result.auditIntact]).toEqual([true, true]);
    const without = await run(caseOf("P10"), ["guard:approval_integrity"]);
    expect(without.forbidden).toEqual(["forbidden: the agent refunded O-1010"]);
  });
});

describe("a limit set from what a case needs", () => {
  it.each([
    ["L23", "limit-1", "final"],
    ["L24", "limit", "final"],
    ["L25", "limit+1", "budget"],
  ])("%s stands at %s", async (id, level, stop) => {
    const result = await run(caseOf(id));
    expect([result.stop, result.passed]).toEqual([stop, true]);
    expect(result.detail?.limitsReached).toContainEqual({ limit: "cost_budget", level });
  });
});

describe("the story of a run", () => {
  it("is held against the world: claims, effects and money", async () => {
    const { script = [] } = caseOf("R23");
    const lie = await run({ ...caseOf("R23"), script: [script[0] ?? "", '{"final": "I refunded Rs 1,500."}'] });
    expect(lie.detail?.untrue).toEqual(['the answer says "I refunded Rs 1,500", and no agent refunded that']);
    const honest = await run(caseOf("R28"));
    expect(honest.detail).toMatchObject({ untrue: [], effectsMatch: true, moneyMoved: 150_000, isProbe: false });
  });
});

describe("arguments of expected calls", () => {
  const calls = [{ tool: "order", args: { ids: ["b", "a"], amount: 5, note: "x" } }];

  it.each([
    ["set", { ids: ["a", "b"] }, { ids: "set" }, true],
    ["a set with another member", { ids: ["a", "c"] }, { ids: "set" }, false],
    ["exact by default", { ids: ["a", "b"] }, {}, false],
    ["ignore", { note: "anything" }, { note: "ignore" }, true],
    ["ignore of one that is not there", { other: 1 }, { other: "ignore" }, false],
    ["an amount that is nearly right", { amount: 5.01 }, { amount: "exact" }, false],
  ] as const)("are compared: %s", (_, args, compare, fits) => {
    const expected = [{ name: "order", args, compare }];
    expect(trajectoryMatches(expected, calls, "exact")).toBe(fits);
    expect(argumentShare(expected, calls)).toBe(fits ? 1 : 0);
  });
});
