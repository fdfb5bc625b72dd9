import { describe, expect, it } from "vitest";
import type { AnyApp } from "../../src/config.ts";
import {
  agentMetrics,
  type CaseResult,
  type EvalCase,
  type EvalSuite,
  formatAgentReport,
  runCase,
} from "../../src/evals/index.ts";
import { toJson } from "../../src/evals/report-json.ts";
import bank from "../cli/fixtures/bank.ts";

const app: AnyApp = bank;
const suite = (await app.suites?.["reference"]?.()) as EvalSuite;
const PAY = { tool: "pay", args: { account: "alice", amount: 50 } };
const base: EvalCase = {
  id: "P1",
  class: "pay",
  message: "Please pay 50 to alice.",
  mockScript: [PAY, { final: "Paid 50 to alice." }],
  expectedTools: [{ name: "pay", args: { account: "alice" } }],
  expectedFacts: ["50"],
  expect: {},
};
const run = (change: Partial<EvalCase> = {}): Promise<CaseResult> =>
  runCase({ app, suite, case: { ...base, ...change } });
const summary = (cases: readonly CaseResult[]) => ({ app: "bank", suite: "x", without: [], cases });

describe("a case that expects tools", () => {
  it("passes when tools, answer and end are right", async () => {
    const result = await run();
    expect(result.reasons).toEqual([]);
    expect(result.agent).toEqual({
      toolSelection: true,
      answerCorrect: true,
      answerCorrectBound: true,
      terminationMatch: true,
      mustNotCallOk: true,
      argumentCorrectness: 1,
      trajectoryMatch: true,
      hasLoop: false,
      redundantQueries: 0,
      invalidCalls: 0,
      blockedCalls: 0,
      compactions: 0,
    });
    expect(result.calls).toEqual([{ step: 1, ...PAY, status: "executed" }]);
  });

  it("says what was not right", async () => {
    const result = await run({
      expectedTools: [{ name: "pay", args: { account: "bob" } }, { name: "pay" }],
      expectedFacts: ["bob"],
      forbiddenFacts: ["Paid"],
      expectedTermination: "max_steps",
      mustNotCall: ["pay"],
    });
    expect(result.passed).toBe(false);
    expect(result.reasons).toEqual([
      "tools are pay, expected pay, pay",
      "the answer lacks bob and the answer says Paid",
      "it ended with final, expected max_steps",
      "pay must not be called",
    ]);
    expect(result.agent).toMatchObject({ argumentCorrectness: 0.5, trajectoryMatch: false, mustNotCallOk: false });
  });

  it("tells wrong arguments from wrong tools", async () => {
    const result = await run({ expectedTools: [{ name: "pay", args: { account: "bob" } }] });
    expect(result.reasons).toEqual(["the arguments of the calls are not as expected"]);
  });

  it("tells calls that are invalid, blocked and never run", async () => {
    const result = await run({
      message: "Please pay 50 to alice.",
      mockScript: [
        { tool: "pay", args: { account: "alice" } },
        { tool: "steal", args: {} },
        { tool: "pay", args: { account: "bob", amount: 5 } },
        { final: "Nothing done." },
      ],
      expectedTools: [],
      expectedFacts: [],
    });
    expect(result.calls.map(({ step, tool, status }) => [step, tool, status])).toEqual([
      [1, "pay", "invalid"],
      [2, "steal", "invalid"],
      [3, "pay", "blocked"],
    ]);
    expect(result.agent).toMatchObject({ invalidCalls: 2, blockedCalls: 1, toolSelection: true });
    const looping = await run({ mockScript: [PAY, PAY, PAY], limits: { stepsMax: 3 } });
    expect(looping.calls.at(-1)).toMatchObject({ step: 3, status: "not_run", code: "not_run" });
    expect(looping.agent?.hasLoop).toBe(true);
  });

  it("fails a mock script that is too short or too long", async () => {
    expect((await run({ mockScript: [PAY] })).reasons[0]).toBe(
      "the model was asked 2 times and the script has 1 replies",
    );
    expect((await run({ mockScript: [PAY, { final: "50" }, { final: "50" }] })).reasons).toEqual([
      "1 of 3 scripted replies were not used",
    ]);
  });

  it("asks the app's own model when it has no script", async () => {
    const { mockScript: _, ...unscripted } = base;
    const { model } = { model: app.offlineModel(app.openWorld(":memory:") as never) };
    const result = await runCase({ app, suite, case: unscripted });
    expect(result.modelSteps).toBeGreaterThan(0);
    expect(model.id).not.toBe("scripted");
  });
});

describe("agentMetrics", () => {
  it("is nothing for suites that expect no tools", async () => {
    const { expectedTools: _, ...plain } = base;
    const result = await runCase({ app, suite, case: plain });
    expect(result.agent).toBeUndefined();
    expect(agentMetrics(summary([result]))).toBeUndefined();
    expect(toJson(summary([result]))["agent"]).toBeNull();
  });

  it("divides calls by cases, and leaves an unknown cost unknown", async () => {
    const invalid = { tool: "pay", args: {} };
    const cases = [
      await run(),
      await run({ id: "P2", mockScript: [invalid, invalid, { final: "50" }], expectedTools: [{ name: "pay" }] }),
    ];
    const metrics = agentMetrics(summary(cases));
    expect(metrics).toMatchObject({ cases: 2, tool_selection_accuracy: 0.5, invalid_call_rate: 1, loop_rate: 0.5 });
    expect(metrics?.mean_model_calls).toBe(2.5);
    const [first] = cases;
    const { costNanoUsd: _, ...unknown } = first as CaseResult;
    expect(agentMetrics(summary([unknown]))?.cost_usd).toBeNull();
    expect(agentMetrics(summary([{ ...unknown, costNanoUsd: 2e9 }]))?.cost_usd).toBe(2);
  });

  it("is printed as a table with the gate and what failed", async () => {
    const result = summary([await run(), await run({ id: "P2", expectedFacts: ["bob"] })]);
    const metrics = agentMetrics(result);
    const text = metrics === undefined ? "" : formatAgentReport(result, metrics, { baseline: 1, maxDrop: 0 });
    const lines = text.split("\n");
    expect(lines[0]).toMatch(/^cases +2$/);
    expect(lines).toContain("tool_selection_accuracy         1.00");
    expect(lines).toContain("answer_correctness              0.50");
    expect(lines.slice(-5)).toEqual([
      "audit logs intact: True",
      "GATE: FAIL",
      "  - task success fell more than 0 points below baseline",
      "  P2 (pay): the answer lacks bob",
      "",
    ]);
  });
});
