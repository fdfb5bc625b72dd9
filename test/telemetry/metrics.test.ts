import { describe, expect, it } from "vitest";
import { addMetrics, metricsOf } from "../../src/telemetry/index.ts";
import { bench, call, calls, final, play } from "./support.ts";

describe("metricsOf", () => {
  it("counts verdicts, dispositions, approvals and terminations, and measures each wait and call", async () => {
    const on = bench([
      calls(call("search", "a"), call("pay", "guarded"), call("pay", "pay_more 1")),
      calls(call("pay", "pay_more 2")),
      final("done"),
    ]);
    await play(on, { turns: [], answers: ["approved", "rejected"] });
    expect(metricsOf(await on.entries())).toMatchObject({
      runs: 1,
      modelMs: [100, 100, 100],
      toolMs: [10, 10],
      // The search of the turn ran while the first question was open.
      approvalMs: [5010, 5000],
      modelCalls: 3,
      verdicts: { allow: 1, deny: 1, ask: 3 },
      dispositions: { executed: 2, blocked: 1, rejected: 1 },
      approvals: { approved: 1, rejected: 1 },
      compactions: 0,
      terminations: { completed: 1 },
    });
    const { runMs, workedMs, costNanoUsd } = metricsOf(await on.entries());
    expect(runMs[0]).toBeGreaterThanOrEqual(10_000);
    expect(workedMs[0]).toBeLessThan(1_000);
    // No price is known, and unknown is not zero.
    expect(costNanoUsd).toBeUndefined();
  });

  it("adds runs up by termination, unfinished ones included", async () => {
    const done = bench([final("done")]);
    await play(done, { turns: [], answers: [] });
    const halted = bench([calls(call("pay", "halting"))]);
    await play(halted, { turns: [], answers: [] });
    const waiting = bench([calls(call("pay", "pay_more"))]);
    await waiting.open().run("please", { runId: "run_1" }).result;
    const each = await Promise.all([done, halted, waiting].map(async (on) => metricsOf(await on.entries())));
    const total = addMetrics(each);
    expect(total.terminations).toEqual({ completed: 1, "halted:STOP": 1, unfinished: 1 });
    expect(total.verdicts).toEqual({ halt: 1, ask: 1 });
    expect(total.dispositions).toEqual({ denied: 1, unsettled: 1 });
    expect(total.inputTokens).toBe(each.reduce((sum, { inputTokens }) => sum + inputTokens, 0));
    expect(total.modelMs).toHaveLength(3);
    expect(addMetrics([])).toEqual(metricsOf([]));
  });
});
