import { describe, expect, it } from "vitest";
import { BelayError, type ModelClient, type ModelReply } from "../../src/index.ts";
import { calls, final, world } from "./support.ts";

const USAGE = { inputTokens: 100, outputTokens: 10 };
const search = (q: unknown): ModelReply => ({ ...calls(["search", { q }]), usage: USAGE });
const forever = (reply: (n: number) => ModelReply): readonly ModelReply[] =>
  Array.from({ length: 60 }, (_, n) => reply(n));
const executed = (result: { calls: readonly { outcome?: { status: string } }[] }) =>
  result.calls.filter((call) => call.outcome?.status === "ok").length;

describe("limits stop a run with a typed termination", () => {
  it("max_steps: four model calls, four executed", async () => {
    const { harness } = world(
      forever((n) => search(n % 2 === 0 ? "a" : "b")),
      {
        agent: { limits: { stepsMax: 4, identicalCalls: { max: 99, scope: "consecutive" } } },
      },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toEqual({
      kind: "limit",
      limit: "max_steps",
      detail: "reached the per-run step limit of 4 model calls",
    });
    expect(result.state.phase).toBe("FAILED");
    expect(result.state.phaseChanges.at(-1)?.reason).toBe("guard:max_steps");
    expect([result.usage.modelCalls, executed(result)]).toEqual([4, 4]);
  });

  it("repeated_call, consecutive: the third identical call is intercepted", async () => {
    const { harness } = world(
      forever(() => search("same")),
      { agent: { limits: { stepsMax: 20 } } },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({
      limit: "repeated_call",
      detail: "search was requested 3 times in a row with identical arguments",
    });
    expect([result.usage.modelCalls, executed(result)]).toEqual([3, 2]);
  });

  it("repeated_call, per run: the fourth identical call stops, also when others stand between", async () => {
    const { harness } = world(
      forever((n) => search(n % 2 === 0 ? "same" : n)),
      {
        agent: { limits: { stepsMax: 20, identicalCalls: { max: 3, scope: "run" } } },
      },
    );
    // Odd calls carry a number, which the schema refuses; a refused call counts like any other.
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "repeated_call" });
    expect([result.usage.modelCalls, executed(result)]).toEqual([7, 3]);
  });

  it("counts a refused call that the model sends again unchanged", async () => {
    const { harness, effects } = world(
      forever(() => ({ ...calls(["refund", { order: "A", cents: 1 }]), usage: USAGE })),
      {
        agent: { rules: [], limits: { stepsMax: 20 } },
      },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "repeated_call" });
    expect(effects).toEqual([]);
  });

  it("token_budget: stops before the call that might exceed it, with 330 used", async () => {
    const { harness } = world(
      forever((n) => search(String(n))),
      {
        agent: { limits: { tokensMax: 500, replyTokensMax: 100, stepsMax: 50 }, instructions: "x".repeat(0) },
      },
    );
    const result = await harness.run("go").result;
    const { usage, termination } = result;
    expect(termination).toMatchObject({ kind: "limit", limit: "token_budget" });
    expect(termination).toMatchObject({
      detail: expect.stringMatching(
        /^next model call \(~\d+ input tokens \+ up to 100 output\) would exceed the budget of 500 \(used \d+\)$/,
      ),
    });
    expect(usage.inputTokens + usage.outputTokens).toBe(110 * usage.modelCalls);
    expect(usage.inputTokens + usage.outputTokens).toBeLessThanOrEqual(500);
  });

  it("bounds estimates and not the bill: a provider that overcounts is seen afterwards", async () => {
    const { harness } = world(
      forever((n) => ({ ...search(String(n)), usage: { inputTokens: 7000, outputTokens: 10 } })),
      { agent: { limits: { tokensMax: 6000, replyTokensMax: 100 } } },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "token_budget", detail: expect.stringContaining("(used 7010)") });
    expect(result.usage.modelCalls).toBe(1);
  });

  it("wall_clock: working time only, and nothing new starts after it", async () => {
    const setup = world([]);
    const slow: ModelClient = {
      id: "slow",
      generate: async () => {
        setup.clock.advance(100_000);
        return search("a");
      },
    };
    const { harness } = world([], {
      options: { model: slow, clock: setup.clock },
      agent: { limits: { wallClockMs: 5000 } },
    });
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({
      limit: "wall_clock",
      detail: "run exceeded the wall-clock limit of 5s (100.0s)",
    });
    expect([result.usage.modelCalls, executed(result)]).toEqual([1, 0]);
  });

  it("ends a model call that never answers when the wall clock runs out", async () => {
    const hanging: ModelClient = { id: "hanging", generate: () => new Promise(() => undefined) };
    const { harness } = world([], {
      options: { model: hanging, clock: { now: () => Date.now() } },
      agent: { limits: { wallClockMs: 30 } },
    });
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "wall_clock" });
    expect(result.usage.estimated).toBe(true);
  });

  it("cycle: A,B,A,B,A,B stops", async () => {
    const { harness } = world(
      forever((n) => search(n % 2 === 0 ? "a" : "b")),
      { agent: { limits: { stepsMax: 50 } } },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "cycle", detail: "the last 2 calls were repeated 3 times" });
    expect(result.usage.modelCalls).toBe(6);
  });

  it("invalid_calls: more schema-invalid calls than allowed", async () => {
    const { harness, effects } = world(
      forever((n) => search(n)),
      { agent: { limits: { invalidCallsMax: 2, stepsMax: 50 } } },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "invalid_calls" });
    expect(result.usage.modelCalls).toBe(3);
    expect(effects).toEqual([]);
  });

  it("unreadable_replies: two in a row, and a readable one starts the count again", async () => {
    const bad: ModelReply = { kind: "unreadable", problem: "Reply with JSON only." };
    const { harness, model } = world([bad, search("a"), bad, bad]);
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "unreadable_replies" });
    expect(model.requests[1]?.messages.at(-1)).toEqual({ role: "harness", text: "Reply with JSON only." });
  });
});

describe("cost", () => {
  const prices = { scripted: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } };

  it("reserves before it spends: a cap below one call makes no call (behaviour soft-cap-overshoot)", async () => {
    const { harness, model } = world(
      forever((n) => search(String(n))),
      {
        agent: { limits: { costUsdMax: 0.000000001 } },
        options: { prices },
      },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "cost_budget" });
    expect(model.requests).toHaveLength(0);
  });

  it("makes exactly one call under a cap between the price of one and of two", async () => {
    const probe = world([{ ...final("x"), usage: USAGE }], {
      options: { prices },
      agent: { limits: { costUsdMax: 1 } },
    });
    const { usage } = await probe.harness.run("go").result;
    const { harness, model } = world(
      forever((n) => search(String(n))),
      {
        options: { prices },
        agent: { limits: { costUsdMax: (usage.costNanoUsd * 10.5) / 1e9, replyTokensMax: 1000 } },
      },
    );
    const result = await harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "cost_budget" });
    expect(model.requests).toHaveLength(1);
  });

  it("refuses to start with a cost limit and no price, and says how to set one", async () => {
    const { harness } = world([], { agent: { limits: { costUsdMax: 1 } } });
    await expect(harness.run("go", { runId: "r" }).result).rejects.toThrow(/no price; add it to 'prices'/);
    expect(await harness.entries({ tenant: "default", runId: "r" })).toEqual([]);
  });

  it("charges missing and impossible usage at the reservation and marks it (behaviour missing-usage)", async () => {
    for (const usage of [
      undefined,
      { inputTokens: Number.NaN, outputTokens: 1 },
      { inputTokens: -5, outputTokens: 1 },
    ]) {
      const { harness } = world([{ ...final("x"), ...(usage === undefined ? {} : { usage }) }], {
        agent: { limits: { replyTokensMax: 500, tokensMax: 5000 } },
        options: {
          model: { id: "m", generate: async () => ({ ...final("x"), ...(usage === undefined ? {} : { usage }) }) },
        },
      });
      const result = await harness.run("go").result;
      expect(result.usage.estimated).toBe(true);
      expect(result.usage.outputTokens).toBeGreaterThanOrEqual(1);
      expect(result.usage.inputTokens).toBeGreaterThan(0);
    }
  });

  it("shares a budget over parallel runs without overspending (behaviour concurrent-reservations)", async () => {
    const single = world([{ ...final("x"), usage: USAGE }], { options: { prices } });
    const one = (await single.harness.run("go").result).usage.costNanoUsd;
    const replyTokensMax = 1;
    const limit = one * 3;
    const { harness, options } = world([], {
      agent: { limits: { replyTokensMax } },
      options: {
        prices: { m: prices.scripted },
        budgets: { team: limit },
        model: {
          id: "m",
          generate: async () => {
            await new Promise((resolve) => setTimeout(resolve, 1));
            return { ...final("x"), usage: USAGE };
          },
        },
      },
    });
    const results = await Promise.all(Array.from({ length: 20 }, () => harness.run("go").result));
    const budget = await options.store.budget("default", "team");
    expect(budget.reserved).toBe(0);
    expect(budget.used).toBe(results.filter((r) => r.status === "done").length * one);
    expect(results.filter((r) => r.status === "failed").every((r) => r.termination?.kind === "limit")).toBe(true);
    expect(results.some((r) => r.status === "failed")).toBe(true);
  });

  it("refuses limits that are no numbers", () => {
    expect(() => world([], { agent: { limits: { stepsMax: Number.NaN } } })).toThrow(BelayError);
    expect(() => world([], { agent: { limits: { tokensMax: 100, replyTokensMax: 100 } } })).toThrow(/must be larger/);
  });
});
