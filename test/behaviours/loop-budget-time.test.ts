import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  createHarness,
  defineTool,
  type ModelClient,
  type ModelReply,
  type RunResult,
} from "../../src/index.ts";
import { runStarted, SAMPLE_AT } from "../../src/testing/index.ts";
import { calls, final, refundTool, searchTool, world } from "../engine/support.ts";
import { answer, codeOf, STORES, statuses, toolTexts, worldOn } from "./support.ts";

const USAGE = { inputTokens: 100, outputTokens: 10 };
const search = (q: string): ModelReply => ({ ...calls(["search", { q }]), usage: USAGE });
const times = (count: number, reply: (n: number) => ModelReply): readonly ModelReply[] =>
  Array.from({ length: count }, (_, n) => reply(n));
const ran = (result: RunResult) => result.calls.filter(({ outcome }) => outcome?.status === "ok").length;

describe("a model that goes round in circles", () => {
  it("same-call-repeated: the same call for ever ends after a fixed number of them", async () => {
    const setup = world(
      times(50, () => search("same")),
      { agent: { limits: { stepsMax: 50, identicalCalls: { max: 5, scope: "consecutive" } } } },
    );
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ kind: "limit", limit: "repeated_call" });
    expect([result.usage.modelCalls, setup.effects.length]).toEqual([5, 4]);
  });

  it("same-call-repeated: the spelling of the arguments makes no other call of it", async () => {
    const spellings = ['{"q":"a","n":1}', '{ "n": 1.0, "q": "a" }', '{"n":1e0,"q":"\\u0061"}', '{"n":1,"q":"a"}'];
    const look = defineTool({
      name: "look",
      description: "",
      level: "read",
      recovery: "read",
      input: z.strictObject({ q: z.string(), n: z.int() }),
      execute: () => null,
    });
    const setup = world(
      spellings.map((args) => calls(["look", args])),
      { tools: () => [look] },
    );
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "repeated_call" });
    expect(ran(result)).toBe(2);
  });

  it("guard-fires-once: at the threshold it ends the run, and neither a pause nor a restart counts from zero again", async () => {
    const limits = { stepsMax: 20, identicalCalls: { max: 5, scope: "run" } } as const;
    const again = ["refund", { order: "A", cents: 5000 }] as const;
    const setup = world(
      times(8, () => calls(again)),
      { agent: { limits } },
    );
    let result = await setup.harness.run("go").result;
    for (let asked = 0; asked < 8 && result.status === "waiting"; asked += 1) {
      result = await answer(createHarness(setup.options), result, "approved");
    }
    expect(result.termination).toMatchObject({ kind: "limit", limit: "repeated_call" });
    expect(setup.effects).toHaveLength(5);
    const requests = setup.model.requests.length;
    await createHarness(setup.options).advance(result);
    await createHarness(setup.options).recover();
    expect([setup.model.requests.length, setup.effects.length]).toEqual([requests, 5]);
  });

  it("nondeterministic-result-defeats-guard: a result that varies does not hide that the call is the same", async () => {
    let count = 0;
    const counter = defineTool({
      name: "count",
      description: "",
      level: "read",
      recovery: "read",
      input: z.strictObject({}),
      execute: () => {
        count += 1;
        return { count, at: Math.random() };
      },
    });
    const setup = world(
      times(20, () => calls(["count", {}])),
      { tools: () => [counter], agent: { limits: { stepsMax: 20 } } },
    );
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "repeated_call" });
    expect(count).toBe(2);
  });

  it("limit-leaves-orphan-calls: every call has one result when a limit ends the run, and the next turn is whole", async () => {
    const setup = world(
      [
        calls(["search", { q: "a" }], ["refund", { order: "A", cents: 1 }], ["refund", { order: "B", cents: 1 }]),
        final("next"),
      ],
      { agent: { limits: { stepsMax: 1, callsPerTurnMax: 1 }, memoryTurnsMax: 3 } },
    );
    const first = await setup.harness.run("go").result;
    expect(first.termination).toMatchObject({ limit: "max_steps" });
    const asked = first.state.messages.flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ callId }) => callId) : [],
    );
    const answered = first.state.messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(answered).toEqual(asked);
    expect(ran(first)).toBe(1);
    expect(setup.effects).toEqual(["search a"]);
    const next = await setup.harness.run("again", { conversationId: first.conversationId }).result;
    expect(next.answer).toBe("next");
    expect(setup.model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(["user"]);
  });

  it("limit-leaves-orphan-calls: a limit that the reply itself reaches settles the calls of that reply", async () => {
    const setup = world([
      search("a"),
      search("a"),
      calls(["search", { q: "a" }], ["refund", { order: "A", cents: 1 }]),
    ]);
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "repeated_call" });
    expect(statuses(result)).toEqual(["ok", "ok", "not_run", "not_run"]);
    expect(setup.effects).toEqual(["search a", "search a"]);
  });

  it("limit-across-resumes: five steps are five steps however often the run pauses", async () => {
    const setup = world(
      times(20, (n) => calls(["refund", { order: String(n), cents: 5000 }])),
      { agent: { limits: { stepsMax: 5 } } },
    );
    let result = await setup.harness.run("go").result;
    for (let pause = 0; pause < 20 && result.status === "waiting"; pause += 1) {
      setup.clock.advance(3_600_000);
      result = await answer(createHarness(setup.options), result, "approved");
    }
    expect(result.termination).toMatchObject({ limit: "max_steps" });
    expect([setup.model.requests.length, setup.effects.length]).toEqual([5, 5]);
  });

  it("limit-across-resumes: waiting does not use up the wall clock, and working time adds up over pauses", async () => {
    const setup = world([]);
    const model: ModelClient = {
      id: "slow",
      generate: async ({ messages }) => {
        setup.clock.advance(2_000);
        return calls(["refund", { order: String(messages.length), cents: 5000 }]);
      },
    };
    const timed = world([], {
      options: { model, clock: setup.clock },
      agent: { limits: { wallClockMs: 5_000, stepsMax: 20 } },
    });
    let result = await timed.harness.run("go").result;
    for (let pause = 0; pause < 20 && result.status === "waiting"; pause += 1) {
      setup.clock.advance(3_600_000);
      result = await answer(createHarness(timed.options), result, "approved");
    }
    expect(result.termination).toMatchObject({ limit: "wall_clock" });
    expect(result.usage.modelCalls).toBe(3);
  });
});

describe("money and tokens", () => {
  const prices = { scripted: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } };

  it.each(STORES)(
    "concurrent-reservations: of four at once only those that fit are admitted, on the %s store",
    async (_name, open) => {
      // 5.00 dollars, 4.7527 spent, 0.0884 each, in ten-thousandths of a dollar.
      const [limit, spent, each] = [50_000, 47_527, 884];
      const store = await open();
      const start = async (runId: string) => {
        const run = { tenant: "default", runId };
        await store.commit({ run, head: 0, entries: [{ at: SAMPLE_AT, event: runStarted() }] });
        return run;
      };
      const reserve = (run: { tenant: string; runId: string }, reservationId: string, amount: number, head: number) =>
        store.commit({
          run,
          head,
          entries: [
            { at: SAMPLE_AT, event: { type: "budget.reserved", reservationId, budget: "team", amount, limit } },
          ],
        });
      const before = await start("before");
      await reserve(before, "spent", spent, 1);
      await store.commit({
        run: before,
        head: 2,
        entries: [
          { at: SAMPLE_AT, event: { type: "budget.settled", reservationId: "spent", budget: "team", amount: spent } },
        ],
      });
      const runs = await Promise.all(["a", "b", "c", "d"].map(start));
      const results = await Promise.all(runs.map((run, index) => reserve(run, `r${index}`, each, 1)));
      expect(results.map(({ status }) => status).toSorted()).toEqual(["committed", "committed", "refused", "refused"]);
      expect(await store.budget("default", "team")).toMatchObject({ used: spent, reserved: 2 * each });
      // One of them fails and gives its share back: there is room for one more, and for no second.
      const admitted = runs.filter((_, index) => results[index]?.status === "committed");
      const refused = runs.filter((_, index) => results[index]?.status === "refused");
      const [one] = admitted;
      const released = await store.commit({
        run: one ?? before,
        head: 2,
        entries: [
          {
            at: SAMPLE_AT,
            event: { type: "budget.released", reservationId: `r${runs.indexOf(one ?? before)}`, budget: "team" },
          },
        ],
      });
      expect(released.status).toBe("committed");
      const late = await Promise.all(refused.map((run, index) => reserve(run, `late${index}`, each, 1)));
      expect(late.map(({ status }) => status).toSorted()).toEqual(["committed", "refused"]);
    },
  );

  it.each(STORES)(
    "concurrent-reservations: runs at once never overspend, and no reservation stays open, on the %s store",
    async (_name, open) => {
      const store = await open();
      let fails = 0;
      const model: ModelClient = {
        id: "scripted",
        generate: async () => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          fails += 1;
          if (fails % 3 === 0) throw new Error("throttled");
          return { ...final("x"), usage: USAGE };
        },
      };
      const probe = world([{ ...final("x"), usage: USAGE }], { options: { prices } });
      const one = (await probe.harness.run("go").result).usage.costNanoUsd;
      const limit = one * 25;
      const setup = worldOn(store, [], { options: { model, prices, budgets: { team: limit } } });
      await Promise.all(Array.from({ length: 12 }, () => setup.harness.run("go").result));
      const budget = await store.budget("default", "team");
      expect(budget.reserved).toBe(0);
      expect(budget.used).toBeLessThanOrEqual(limit);
      expect(budget.used).toBeGreaterThan(0);
    },
  );

  const bad: readonly (readonly [what: string, usage: unknown])[] = [
    ["missing", undefined],
    ["NaN", { inputTokens: Number.NaN, outputTokens: Number.NaN }],
    ["negative", { inputTokens: -5, outputTokens: -5 }],
    ["half of it", { inputTokens: 5 }],
    ["infinite", { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 1 }],
    ["a fraction", { inputTokens: 0.5, outputTokens: 1 }],
    ["a text", { inputTokens: "5", outputTokens: "5" }],
  ];

  it.each(bad)(
    "missing-usage: %s is charged at the worst case and marked, and the cap still fires",
    async (_what, usage) => {
      const limits = { tokensMax: 4_000, replyTokensMax: 1_500, stepsMax: 50 };
      let asked = 0;
      const model: ModelClient = {
        id: "m",
        generate: async () => {
          asked += 1;
          const reply = calls(["search", { q: String(asked) }]);
          return (usage === undefined ? reply : { ...reply, usage }) as ModelReply;
        },
      };
      const setup = world([], { options: { model }, agent: { limits } });
      const result = await setup.harness.run("go").result;
      expect(result.termination).toMatchObject({ kind: "limit", limit: "token_budget" });
      expect(result.usage.estimated).toBe(true);
      expect(asked).toBeLessThanOrEqual(50);
      expect(result.usage.inputTokens + result.usage.outputTokens).toBeGreaterThan(asked);
      const replies = (await setup.harness.entries(result)).flatMap(({ event }) =>
        event.type === "model.replied" ? [event.usage] : [],
      );
      expect(replies.every(({ estimated }) => estimated === true)).toBe(true);
    },
  );

  it("missing-usage: a model without a price is never free under a cost limit", async () => {
    const { harness } = world([final("x")], { agent: { limits: { costUsdMax: 1 } } });
    await expect(harness.run("go").result).rejects.toMatchObject({ code: "BELAY_PRICE_UNKNOWN" });
  });

  it("soft-cap-overshoot: with room for one call and a half there is one call", async () => {
    const setup = world(
      times(5, (n) => ({ ...search(String(n)), usage: { inputTokens: 1_400, outputTokens: 100 } })),
      { agent: { limits: { tokensMax: 2_000, replyTokensMax: 400 } } },
    );
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ limit: "token_budget" });
    expect(setup.model.requests).toHaveLength(1);
    expect(result.usage.inputTokens + result.usage.outputTokens).toBe(1_500);
  });

  it("soft-cap-overshoot: nor does a resume between the two make room", async () => {
    const setup = world(
      times(5, (n) => ({
        ...calls(["refund", { order: String(n), cents: 5000 }]),
        usage: { inputTokens: 1_400, outputTokens: 100 },
      })),
      { agent: { limits: { tokensMax: 2_000, replyTokensMax: 400 } } },
    );
    const waiting = await setup.harness.run("go").result;
    const result = await answer(createHarness(setup.options), waiting, "approved");
    expect(result.termination).toMatchObject({ limit: "token_budget" });
    expect(setup.model.requests).toHaveLength(1);
  });
});

describe("an abort", () => {
  function patient(onStart: () => void, seen: { aborted: boolean }): AnyTool {
    return defineTool({
      name: "wait",
      description: "",
      level: "read",
      recovery: "read",
      input: z.strictObject({}),
      execute: (_args, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            seen.aborted = true;
            resolve("stopped");
          });
          onStart();
        }),
    });
  }

  it("abort-reaches-tools: a tool that listens sees it, and the run ends as cancelled", async () => {
    const controller = new AbortController();
    const seen = { aborted: false };
    const setup = world([calls(["wait", {}]), final("x")], { tools: () => [patient(() => controller.abort(), seen)] });
    const result = await setup.harness.run("go", { signal: controller.signal }).result;
    expect(seen.aborted).toBe(true);
    expect(result.termination).toMatchObject({ kind: "cancelled" });
    expect(setup.model.requests).toHaveLength(1);
  });

  it("abort-reaches-tools: so does one whose run somebody else cancels by its id", async () => {
    const seen = { aborted: false };
    let started: () => void = () => undefined;
    const hasStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    const setup = world([calls(["wait", {}]), final("x")], { tools: () => [patient(() => started(), seen)] });
    const running = setup.harness.run("go", { runId: "r" });
    await hasStarted;
    expect(await setup.harness.cancel(running, { kind: "person", id: "dana" }, "stop")).toBe("recorded");
    expect((await running.result).termination).toEqual({ kind: "cancelled", by: "dana" });
    expect(seen.aborted).toBe(true);
    expect(await setup.harness.cancel(running, { kind: "person", id: "dana" })).toBe("already_ended");
  });

  it("abort-reaches-tools: a model call sees it as well", async () => {
    const controller = new AbortController();
    let wasAborted = false;
    const model: ModelClient = {
      id: "m",
      generate: (_request, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            wasAborted = true;
            reject(new Error("aborted"));
          });
          controller.abort();
        }),
    };
    const { harness } = world([], { options: { model } });
    const result = await harness.run("go", { signal: controller.signal }).result;
    expect([wasAborted, result.termination?.kind]).toEqual([true, "cancelled"]);
  });

  it("cancelled-but-completed: a changing call that ignores the abort is told as unknown, and what it did is recorded", async () => {
    const controller = new AbortController();
    let finish: () => void = () => undefined;
    const alarms: string[] = [];
    const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
      tools: (ledger) => [
        refundTool(ledger, {
          timeoutMs: 30,
          execute: () =>
            new Promise((resolve) => {
              finish = () => {
                ledger.effects.push("late");
                resolve("refunded");
              };
              controller.abort();
            }),
        }),
        searchTool(ledger),
      ],
      options: { onAlarm: ({ code }) => alarms.push(code) },
    });
    const result = await setup.harness.run("go", { signal: controller.signal, runId: "r" }).result;
    expect(result.calls[0]?.outcome).toMatchObject({
      status: "unknown",
      error: { code: "outcome_unknown", message: expect.stringContaining("nobody knows") },
    });
    finish();
    await expect.poll(() => setup.types("r")).toContain("call.outcome_observed");
    const records = await setup.options.store.audit.entries(0, 1000);
    expect(records.map(({ text }) => JSON.parse(text))).toContainEqual(
      expect.objectContaining({ type: "call.outcome_observed", status: "ok", differs: true }),
    );
    expect(alarms).toEqual(expect.arrayContaining(["OUTCOME_UNKNOWN", "OUTCOME_DIFFERS"]));
    expect(setup.effects).toEqual(["late"]);
  });

  it("cancelled-but-completed: one that completes in time is told as done, though the run is cancelled", async () => {
    const controller = new AbortController();
    const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
      tools: (ledger) => [
        refundTool(ledger, {
          execute: async () => {
            controller.abort();
            await new Promise((resolve) => setTimeout(resolve, 5));
            ledger.effects.push("done all the same");
            return null;
          },
        }),
      ],
    });
    const result = await setup.harness.run("go", { signal: controller.signal }).result;
    expect(result.termination).toMatchObject({ kind: "cancelled" });
    expect(statuses(result)).toEqual(["ok"]);
    expect(setup.effects).toEqual(["done all the same"]);
  });

  it("cancelled-but-completed: a timed-out call is not told as failed, and is not tried under another key", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
      tools: (ledger) => [
        refundTool(ledger, {
          timeoutMs: 10,
          execute: (_args: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
            ledger.keys.push(idempotencyKey);
            return new Promise(() => undefined);
          },
        }),
      ],
    });
    const result = await setup.harness.run("go").result;
    expect(codeOf(result)).toBe("outcome_unknown");
    expect(new Set(setup.keys).size).toBe(1);
    expect(toolTexts(setup)).toEqual([]);
  });
});
