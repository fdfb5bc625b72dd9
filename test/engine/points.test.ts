import { describe, expect, it } from "vitest";
import { z } from "zod";
import { controlsOf, createAblatedHarness } from "../../src/engine/ablation.ts";
import {
  type Alarm,
  type AnyTool,
  createHarness,
  defineTool,
  type PointsOptions,
  type RunResult,
  toolFailure,
} from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, DANA, final, refundTool, type World, world } from "./support.ts";

const one =
  (limit: number): PointsOptions["of"] =>
  () => [{ budget: "shared", limit }];

function costing(points: number, limit: number, search = 0): { readonly budget: PointsOptions } {
  return { budget: { points: { refund: points, search }, of: one(limit) } };
}

const balance = async ({ options }: Pick<World, "options">, budget = "shared") => {
  const { used, reserved } = await options.store.budget("default", budget);
  return [used, reserved];
};

const small = (order: string) => ["refund", { order, cents: 1 }] as const;
const big = (order: string) => ["refund", { order, cents: 5000 }] as const;
const codes = (result: RunResult) =>
  result.calls.map(({ outcome }) => (outcome?.status === "ok" ? "ok" : outcome?.error.code));

describe("points of a call", () => {
  it("are reserved with the start and settled with the outcome, each in the same commit", async () => {
    const commits: string[][] = [];
    const store = createMemoryStore();
    const watched: typeof store = {
      ...store,
      commit: (commit) => {
        commits.push(commit.entries.map(({ event }) => event.type));
        return store.commit(commit);
      },
    };
    const setup = world([calls(small("A")), final("ok")], { agent: costing(5, 8), options: { store: watched } });
    expect(codes(await setup.harness.run("go").result)).toEqual(["ok"]);
    expect(await balance(setup)).toEqual([5, 0]);
    expect(commits.find((types) => types.includes("call.started"))).toContain("budget.reserved");
    expect(commits.find((types) => types.includes("call.settled"))).toContain("budget.settled");
  });

  it("that no budget has left deny the call, and the model is told", async () => {
    const setup = world([calls(small("A")), calls(small("B")), final("ok")], { agent: costing(5, 8) });
    const result = await setup.harness.run("go").result;
    expect(codes(result)).toEqual(["ok", "BUDGET_EXHAUSTED"]);
    expect(setup.effects).toEqual(["A:1"]);
    expect(result.calls[1]?.outcome).toMatchObject({
      status: "denied",
      error: { message: "the call costs 5 points and shared has 3 left; it was not run" },
    });
    expect(await balance(setup)).toEqual([5, 0]);
  });

  it("come back when a rule denies, a person rejects, a question expires and a tool fails", async () => {
    const cases = {
      denied: [],
      rejected: [big("A")],
      expired: [big("A")],
      failed: [small("A")],
    };
    for (const [kind, requested] of Object.entries(cases)) {
      const tools = (ledger: World) => [
        refundTool(ledger, kind === "failed" ? { execute: () => toolFailure("NO", "no") } : {}),
        defineTool({
          name: "search",
          description: "",
          level: "write",
          recovery: "keyed",
          input: z.strictObject({ q: z.string() }),
          execute: () => null,
        }),
      ];
      const rules =
        kind === "denied"
          ? { rules: [{ id: "no", decide: () => ({ verdict: "deny", code: "NO", reason: "no" }) as const }] }
          : {};
      const setup = world([calls(...(kind === "denied" ? [small("A")] : requested)), final("ok")], {
        agent: { ...costing(5, 8), ...rules },
        tools: tools as never,
      });
      const waiting = await setup.harness.run("go").result;
      expect(await balance(setup), kind).toEqual([0, 0]);
      const approvalId = waiting.approvals[0]?.approvalId ?? "";
      if (kind === "rejected") await setup.harness.decide({ approvalId, answer: "rejected", by: DANA });
      if (kind === "expired") setup.clock.advance(48 * 3_600_000);
      const result = await setup.harness.advance(waiting);
      expect([result.status, result.calls[0]?.outcome?.status], kind).toEqual(["done", kind]);
      expect(await balance(setup), kind).toEqual([0, 0]);
    }
  });

  it("are held while nobody knows whether the call happened, and charged when its result alone was bad", async () => {
    const broken = (execute: AnyTool["execute"], recovery: "opaque" | "keyed") =>
      world([calls(small("A")), final("ok")], {
        agent: { budget: { points: { refund: 5 }, of: one(8) } },
        tools: (ledger) => [refundTool(ledger, { execute, recovery, level: "write" })],
      });
    const unknown = broken(() => {
      throw new Error("cut off");
    }, "opaque");
    expect((await unknown.harness.run("go").result).label).toBe("outcome_unknown");
    expect(await balance(unknown)).toEqual([0, 5]);
    const odd = broken(() => 5n, "keyed");
    expect(codes(await odd.harness.run("go").result)).toEqual(["result_not_json"]);
    expect(await balance(odd)).toEqual([5, 0]);
  });

  it("are not held while a person thinks, but nobody is asked about what could not be paid", async () => {
    const setup = world([calls(big("A")), calls(big("B")), final("ok")], { agent: costing(5, 8) });
    const waiting = await setup.harness.run("go", { runId: "r" }).result;
    expect(await setup.types("r")).toEqual(expect.arrayContaining(["budget.reserved", "budget.released"]));
    expect(await balance(setup)).toEqual([0, 0]);
    await setup.harness.decide({
      approvalId: waiting.approvals[0]?.approvalId ?? "",
      answer: "approved",
      by: DANA,
    });
    const result = await setup.harness.advance(waiting);
    expect(codes(result)).toEqual(["ok", "BUDGET_EXHAUSTED"]);
    expect(result.approvals).toEqual([]);
    expect(await setup.options.store.approvals({ tenant: "default" })).toHaveLength(1);
    expect(await balance(setup)).toEqual([5, 0]);
  });

  it("of a stopped worker stay reserved until somebody goes on, and are settled then", async () => {
    const stop = new AbortController();
    const setup = world([calls(small("A")), final("ok")], {
      agent: { budget: { points: { refund: 5 }, of: one(8) } },
      tools: (ledger) => [
        refundTool(ledger, {
          execute: async () => {
            stop.abort();
            await Promise.resolve();
            return null;
          },
        }),
      ],
    });
    const run = await setup.harness.start("go", { runId: "r" });
    await setup.harness.advance(run, { signal: stop.signal });
    expect(await balance(setup)).toEqual([0, 5]);
    expect((await setup.harness.advance(run)).status).toBe("done");
    expect(await balance(setup)).toEqual([5, 0]);
  });

  it("that somebody else spent meanwhile are not there for an approved call", async () => {
    const setup = world([calls(big("A")), calls(small("B")), final("ok"), final("ok")], { agent: costing(5, 8) });
    const waiting = await setup.harness.run("go").result;
    const other = createHarness({ ...setup.options });
    await other.run("go").result;
    await setup.harness.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    expect(codes(await setup.harness.advance(waiting))).toEqual(["BUDGET_EXHAUSTED"]);
    expect(setup.effects).toEqual(["B:1"]);
    expect(await balance(setup)).toEqual([5, 0]);
  });
});

describe("points of parallel calls", () => {
  it("exactly two of three transfers fit (behaviour prov-10)", async () => {
    const setup = world([calls(small("A"), small("B"), small("C")), final("ok")], { agent: costing(2000, 5000) });
    const result = await setup.harness.run("go").result;
    expect(codes(result)).toEqual(["ok", "ok", "BUDGET_EXHAUSTED"]);
    expect(setup.effects).toHaveLength(2);
    expect(await balance(setup)).toEqual([4000, 0]);
  });

  it("of one tick admit only those that fit, and an error gives its share back (behaviour concurrent-reservations)", async () => {
    let isFailing = false;
    const setup = world(
      [
        calls(...["a", "b", "c", "d"].map((q) => ["search", { q }] as const)),
        final("ok"),
        calls(["search", { q: "e" }]),
        final("ok"),
      ],
      {
        agent: { budget: { points: { refund: 47_527, search: 884 }, of: one(50_000) } },
        tools: (ledger) => [
          refundTool(ledger),
          defineTool({
            name: "search",
            description: "",
            level: "read",
            recovery: "read",
            input: z.strictObject({ q: z.string() }),
            execute: async ({ q }) => {
              await new Promise((resolve) => setTimeout(resolve, 1));
              ledger.effects.push(q);
              return isFailing ? toolFailure("NO", "no") : null;
            },
          }),
        ],
      },
    );
    const spender = createHarness({ ...setup.options, model: { id: "m", generate: spendOnce() } });
    await spender.run("spend").result;
    const result = await setup.harness.run("go").result;
    expect(codes(result)).toEqual(["ok", "ok", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED"]);
    expect(setup.effects).toEqual(["A:1", "a", "b"]);
    expect(await balance(setup)).toEqual([47_527 + 2 * 884, 0]);
    isFailing = true;
    await createHarness({ ...setup.options, agent: { ...setup.options.agent, budget: wider() } }).run("again").result;
    expect(await balance(setup)).toEqual([47_527 + 2 * 884, 0]);
  });

  it("a call that costs too much does not take cheaper ones of the same commit with it", async () => {
    const free = (name: string) =>
      defineTool({
        name,
        description: "",
        level: "read",
        recovery: "read",
        input: z.strictObject({}),
        execute: () => name,
      });
    const setup = world([calls(["cheap", {}], ["dear", {}], ["other", {}]), final("ok")], {
      agent: { budget: { points: { cheap: 1, dear: 100, other: 1 }, of: one(10) } },
      tools: () => [free("cheap"), free("dear"), free("other")],
    });
    expect(codes(await setup.harness.run("go").result)).toEqual(["ok", "BUDGET_EXHAUSTED", "ok"]);
    expect(await balance(setup)).toEqual([2, 0]);
  });

  it("of a hundred runs never exceed one budget, and every budget of a call must have room", async () => {
    const setup = world([], {
      agent: {
        budget: {
          points: { refund: 7, search: 0 },
          of: ({ principal }) => [
            { budget: "shared", limit: 100 },
            { budget: `person:${principal.id}`, limit: 21 },
          ],
        },
      },
      options: { model: { id: "m", generate: async () => calls(small("A")) } },
    });
    const results = await Promise.all(
      Array.from(
        { length: 100 },
        (_, index) =>
          setup.harness.run("go", { principal: { kind: "customer", id: index % 3 === 0 ? "amy" : `c${index}` } })
            .result,
      ),
    );
    const done = results.flatMap(({ calls: made }) => made).filter(({ outcome }) => outcome?.status === "ok");
    expect(done.length).toBe(14);
    expect(setup.effects).toHaveLength(14);
    expect(await balance(setup)).toEqual([98, 0]);
    const [amyUsed, amyReserved] = await balance(setup, "person:amy");
    expect(amyUsed).toBeLessThanOrEqual(21);
    expect(amyReserved).toBe(0);
  });
});

it("is a control of agents that have it, and one that is needed", async () => {
  const setup = world([], { agent: costing(5, 8) });
  const { agent } = setup.options;
  const id = "guard:points_budget";
  expect(controlsOf(agent).map((control) => control.id)).toContain(id);
  expect(controlsOf(world([]).options.agent).map((control) => control.id)).not.toContain(id);
  const model = scriptedModel([calls(small("A"), small("B")), final("ok")]);
  const result = await createAblatedHarness({ agent, model }, [id]).run("go").result;
  expect(codes(result)).toEqual(["ok", "ok"]);
});

describe("budgets that cannot be told", () => {
  it("deny the call, whatever goes wrong, and tell the operator", async () => {
    const bad: PointsOptions["of"][] = [
      () => {
        throw new Error("secret");
      },
      () => [{ budget: "", limit: 5 }],
      () => [{ budget: "x", limit: Number.NaN }],
      () => undefined as never,
    ];
    for (const of of bad) {
      const alarms: Alarm[] = [];
      const setup = world([calls(small("A")), final("ok")], {
        agent: { budget: { points: { refund: 1 }, of } },
        options: { onAlarm: (alarm) => alarms.push(alarm) },
      });
      expect(codes(await setup.harness.run("go").result)).toEqual(["POLICY_ERROR"]);
      expect(setup.effects).toEqual([]);
      expect(alarms.map(({ code }) => code)).toEqual(["POLICY_ERROR"]);
    }
    const none = world([calls(small("A")), final("ok")], {
      agent: { budget: { points: { refund: 1 }, of: () => [] } },
    });
    expect(codes(await none.harness.run("go").result)).toEqual(["BUDGET_EXHAUSTED"]);
  });

  it("and points that are unclear stop the start", () => {
    const make = (points: Record<string, number>) => () => world([], { agent: { budget: { points, of: one(1) } } });
    expect(make({})).toThrow(/points.refund is undefined/);
    expect(make({ refund: 1, refnud: 1 })).toThrow(/points.refnud is 1/);
    for (const value of [-1, 0.5, Number.NaN])
      expect(make({ refund: value })).toThrow(/points.refund is .*whole points/);
    expect(make({ refund: 0 })).not.toThrow();
  });
});

function spendOnce() {
  let isSpent = false;
  return async () => {
    if (isSpent) return final("ok");
    isSpent = true;
    return calls(small("A"));
  };
}

function wider(): PointsOptions {
  return { points: { refund: 47_527, search: 884 }, of: one(90_000) };
}
