import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, defineTool, type RunResult } from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { calls, DANA, final, type World, world } from "../engine/support.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const RUN = { tenant: "default", runId: "r" };

function refundThatWaits(): World {
  return world([calls(["refund", { order: "A", cents: 5000 }]), final("done")]);
}

function firstQuestion({ approvals }: RunResult): string {
  return approvals[0]?.approvalId ?? "";
}

describe("an answer", () => {
  it.each([
    [DAY_MS - 1, "recorded"],
    [DAY_MS, "expired"],
    [DAY_MS + 1, "expired"],
  ])("after %d ms is %s", async (ms, status) => {
    const { harness, clock } = refundThatWaits();
    const approvalId = firstQuestion(await harness.run("x", { runId: "r" }).result);
    clock.advance(ms);
    expect((await harness.decide({ approvalId, answer: "approved", by: DANA })).status).toBe(status);
  });

  it("after a cancellation runs nothing", async () => {
    const { harness, effects } = refundThatWaits();
    const approvalId = firstQuestion(await harness.run("x", { runId: "r" }).result);
    await harness.cancel(RUN, DANA);
    expect((await harness.decide({ approvalId, answer: "approved", by: DANA })).status).not.toBe("recorded");
    expect([(await harness.advance(RUN)).status, effects]).toEqual(["failed", []]);
  });

  it.each([1, "true", Promise.resolve(true)])("is not permitted when mayDecide gives %s", async (answer) => {
    const { harness } = world([calls(["refund", { order: "A", cents: 5000 }])], {
      options: { mayDecide: () => answer as never },
    });
    const approvalId = firstQuestion(await harness.run("x", { runId: "r" }).result);
    expect((await harness.decide({ approvalId, answer: "approved", by: DANA })).status).toBe("not_permitted");
  });

  it.each(["agent", "customer", "system"] as const)("of a principal of kind %s is not permitted", async (kind) => {
    const { harness } = refundThatWaits();
    const approvalId = firstQuestion(await harness.run("x", { runId: "r" }).result);
    const outcome = await harness.decide({ approvalId, answer: "approved", by: { kind, id: "dana" } });
    expect(outcome.status).toBe("not_permitted");
  });
});

/** Pays from one purse, slowly, so that a second payment beside it would be judged on a stale balance. */
function purse(cents: number): { readonly paid: number[]; left(): number; readonly tool: AnyTool } {
  const paid: number[] = [];
  let left = cents;
  const tool = defineTool({
    name: "pay",
    description: "Pays",
    level: "write",
    recovery: "keyed",
    input: z.strictObject({ cents: z.int(), number: z.int() }),
    execute: async (args) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      left -= args.cents;
      paid.push(args.number);
      return left;
    },
  });
  return { paid, left: () => left, tool };
}

describe("several questions of one turn", () => {
  it("never spend more than there is, in whatever order they are answered", async () => {
    const { tool, paid, left } = purse(9000);
    const wanted = [1, 2, 3].map((number) => ["pay", { cents: 5000, number }] as const);
    const { harness } = world([calls(...wanted), final("done")], {
      tools: () => [tool],
      agent: {
        rules: [
          {
            id: "enough",
            decide: ({ args }) =>
              (args as { readonly cents: number }).cents > left()
                ? { verdict: "deny", code: "NOT_ENOUGH", reason: "not enough is left" }
                : { verdict: "ask", code: "ASK", reason: "a person decides" },
          },
        ],
      },
    });
    const { approvals } = await harness.run("x", { runId: "r" }).result;
    for (const { approvalId } of approvals.toReversed()) {
      await harness.decide({ approvalId, answer: "approved", by: DANA });
    }
    await harness.advance(RUN);
    expect([paid.length, left()]).toEqual([1, 4000]);
  });
});

describe("a shared budget", () => {
  it("holds for eight runs at once, and nothing stays reserved", async () => {
    const store = createMemoryStore();
    const limit = 3_600_000;
    const generate = async () => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      return { ...final("x"), usage: { inputTokens: 100, outputTokens: 1024 } };
    };
    const { harness } = world([], {
      options: {
        store,
        model: { id: "m", generate },
        prices: { m: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
        budgets: { shared: limit },
      },
    });
    const results = await Promise.all(Array.from({ length: 8 }, () => harness.run("x").result));
    const { used, reserved } = await store.budget("default", "shared");
    expect(used).toBeLessThanOrEqual(limit);
    expect(reserved).toBe(0);
    expect(results.filter(({ status }) => status === "done")).toHaveLength(3);
  });
});

describe("a store whose answer to a commit is lost", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    "at commit %d: each effect happens under one key, and nothing stays reserved",
    async (lostAt) => {
      const inner = createMemoryStore();
      let count = 0;
      const commit: typeof inner.commit = async (wanted) => {
        const result = await inner.commit(wanted);
        count += 1;
        if (count === lostAt) throw new Error("the answer is lost");
        return result;
      };
      const turn = calls(
        ["search", { q: "a" }],
        ["refund", { order: "A", cents: 500 }],
        ["refund", { order: "B", cents: 5000 }],
      );
      const { harness, keys } = world([turn, final("done"), final("done")], {
        options: {
          store: { ...inner, commit },
          budgets: { shared: 1e12 },
          prices: { scripted: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
        },
      });
      await harness.run("x", { runId: "r" }).result.catch(() => undefined);
      for (let round = 0; round < 4; round += 1) {
        await harness.advance(RUN).catch(() => undefined);
        for (const { approvalId } of await inner.approvals({ tenant: "default", status: "pending" })) {
          await harness.decide({ approvalId, answer: "approved", by: DANA }).catch(() => undefined);
        }
      }
      expect(new Set(keys).size).toBe(2);
      expect((await harness.state(RUN))?.termination?.kind).toBe("completed");
      expect((await inner.budget("default", "shared")).reserved).toBe(0);
    },
  );
});
