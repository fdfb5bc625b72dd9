import { describe, expect, it } from "vitest";
import { createHarness, type Rule } from "../../src/index.ts";
import { ASK_ABOVE_1000, calls, DANA, final, world } from "./support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A question of 1 hour that is answered with yes after `answeredMs`, and acted on `laterMs` after that. */
async function actedOn(answeredMs: number, laterMs: number) {
  const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("told")], {
    agent: { approval: { ttlMs: HOUR } },
  });
  const waiting = await setup.harness.run("go", { runId: "r" }).result;
  setup.clock.advance(answeredMs);
  const approvalId = waiting.approvals[0]?.approvalId ?? "";
  expect(await setup.harness.decide({ approvalId, answer: "approved", by: DANA })).toMatchObject({
    status: "recorded",
  });
  setup.clock.advance(laterMs);
  const result = await setup.harness.advance(waiting);
  return { setup, result, outcome: result.calls[0]?.outcome };
}

describe("a yes that is acted on late", () => {
  it("holds as long as its question was open, and at least a quarter of an hour", async () => {
    for (const [answeredMs, laterMs, status] of [
      [10 * MINUTE, 50 * MINUTE - 1, "ok"],
      [10 * MINUTE, 50 * MINUTE, "expired"],
      [59 * MINUTE, 15 * MINUTE - 1, "ok"],
      [59 * MINUTE, 15 * MINUTE, "expired"],
      [0, 48 * HOUR, "expired"],
    ] as const) {
      const { setup, outcome } = await actedOn(answeredMs, laterMs);
      expect([outcome?.status, setup.effects.length], `${answeredMs} + ${laterMs}`).toEqual([
        status,
        status === "ok" ? 1 : 0,
      ]);
    }
  });

  it("moves no money without another look at rules or world, says why, and the inbox still shows the answer", async () => {
    const { setup, result, outcome } = await actedOn(0, 48 * HOUR);
    expect(result.answer).toBe("told");
    expect(outcome).toMatchObject({
      error: { code: "approval_expired", message: expect.stringContaining("too late") },
    });
    expect(await setup.types("r")).toContain("approval.expired");
    expect(await setup.options.store.approvals({ tenant: "default" })).toMatchObject([{ status: "approved" }]);
    expect(await setup.options.store.audit.differences()).toEqual([]);
  });

  it("stands when the call had been started before the worker died", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 5000 }]), final("ok")], {
      agent: { approval: { ttlMs: HOUR } },
    });
    const { store } = setup.options;
    const waiting = await setup.harness.run("go", { runId: "r" }).result;
    await setup.harness.decide({ approvalId: waiting.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    const dying: typeof store = {
      ...store,
      commit: async (commit) => {
        const isOutcome = commit.entries.some(({ event }) => event.type === "call.settled");
        if (isOutcome) throw new Error("the process dies");
        return store.commit(commit);
      },
    };
    await expect(createHarness({ ...setup.options, store: dying }).advance(waiting)).rejects.toThrow("dies");
    setup.clock.advance(48 * HOUR);
    expect((await createHarness(setup.options).advance(waiting)).calls[0]?.outcome?.status).toBe("ok");
    expect(new Set(setup.keys).size).toBe(1);
  });
});

it("a cancellation does not wait for a rule that never answers", async () => {
  let asked = 0;
  const silent: Rule = {
    id: "silent",
    decide: () => {
      asked += 1;
      return new Promise(() => undefined);
    },
  };
  const setup = world([calls(["refund", { order: "A", cents: 1 }])], { agent: { rules: [silent, ASK_ABOVE_1000] } });
  const handle = setup.harness.run("go", { runId: "r" });
  await expect.poll(() => asked).toBe(1);
  expect(await setup.harness.cancel(handle, DANA)).toBe("recorded");
  expect((await handle.result).label).toBe("cancelled");
  expect(asked).toBe(1);
  expect(setup.effects).toEqual([]);
  // Less than the half minute after which the rules are given up.
}, 10_000);

it("two calls whose arguments cannot be read are two calls, and the same text three times is one", async () => {
  const broken = (text: string) => calls(["refund", text]);
  const different = world([broken("{a"), broken("{b"), broken("{c"), final("ok")]);
  expect((await different.harness.run("go").result).label).toBe("completed");
  const same = world([broken("{a"), broken("{a"), broken("{a"), final("ok")]);
  expect((await same.harness.run("go").result).label).toBe("repeated_call");
});
