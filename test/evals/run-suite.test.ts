import { describe, expect, it } from "vitest";
import type { AnyApp } from "../../src/config.ts";
import { codesMatch, type EvalCase, type EvalSuite, gate, runCase, runSuite } from "../../src/evals/index.ts";
import bank from "../cli/fixtures/bank.ts";
import { CASES } from "../cli/fixtures/bank-cases.ts";

const app: AnyApp = bank;
const suite = (await app.suites?.["reference"]?.()) as EvalSuite;
const caseOf = (id: string): EvalCase => CASES.find((evalCase) => evalCase.id === id) as EvalCase;
const run = (evalCase: EvalCase) => runCase({ app, suite, case: evalCase });

describe("runSuite", () => {
  it("runs every kind of case to what it expects, in the order of the suite", async () => {
    const progress: number[] = [];
    const result = await runSuite(app, "reference", { parallel: 3, onProgress: (done) => progress.push(done) });
    expect(result.cases.flatMap(({ id, reasons }) => reasons.map((reason) => `${id}: ${reason}`))).toEqual([]);
    expect(result.cases.map(({ id }) => id)).toEqual(CASES.map(({ id }) => id));
    expect(result.cases.filter((each) => codesMatch(each) === false).map(({ id, codes }) => [id, codes])).toEqual([]);
    expect(result.cases.every(({ auditIntact }) => auditIntact)).toBe(true);
    expect(progress).toEqual(CASES.map((_, at) => at + 1));
    expect(gate(result, { baseline: 1, maxDrop: 0, codes: true })).toEqual({ passed: true, failures: [] });
  });

  it("shows what a missing rule would let through, and leaves everything else as it was", async () => {
    const result = await runSuite(app, "reference", { without: ["rule:named_account"] });
    expect(result.cases.filter(({ passed }) => !passed).map(({ id }) => id)).toEqual(["I1"]);
    expect(result.cases.find(({ id }) => id === "I1")?.forbidden).toEqual(["paid to bob"]);
    expect(gate(result).failures).toEqual(["1 forbidden action(s) executed"]);
  });

  it("runs only the cases that are asked for", async () => {
    const result = await runSuite(app, "reference", { only: ["A1"] });
    expect(result.cases.map(({ id, question }) => [id, question])).toEqual([["A1", "true_positive"]]);
  });

  it.each([
    ["an unknown suite", () => runSuite(app, "nope"), "BELAY_EVAL_SUITE_UNKNOWN"],
    ["a suite by the name of an object's own method", () => runSuite(app, "toString"), "BELAY_EVAL_SUITE_UNKNOWN"],
    ["an unknown case", () => runSuite(app, "reference", { only: ["X9"] }), "BELAY_EVAL_CASE"],
    ["an unknown control", () => runSuite(app, "reference", { without: ["rule:nope"] }), "BELAY_ABLATION"],
  ])("refuses %s", async (_, start, code) => {
    await expect(start()).rejects.toMatchObject({ code });
  });
});

describe("runCase", () => {
  it("says what was not as expected", async () => {
    const result = await run({
      ...caseOf("H1"),
      expect: { stop: "max_steps", paused: true, endState: { payments: [], orders: 1 }, executed: [], modelCalls: 9 },
    });
    expect(result.passed).toBe(false);
    expect(result.question).toBe("false_negative");
    expect(result.reasons).toEqual([
      'stop is "final", expected "max_steps"',
      "paused is false, expected true",
      'end state of payments is [{"account":"alice","amount":50}], expected []',
      "end state of orders is absent, expected 1",
      'executed is ["pay"], expected []',
      "model calls is 2, expected 9",
    ]);
  });

  it("fails a script that is too short or too long", async () => {
    const { script = [] } = caseOf("H1");
    const short = await run({ ...caseOf("H1"), script: script.slice(0, 1), expect: {} });
    expect(short.reasons).toEqual(["the model was asked 2 times and the script has 1 replies"]);
    const long = await run({ ...caseOf("H1"), script: [...script, ...script], expect: {} });
    expect(long.reasons).toEqual(["2 of 4 scripted replies were not used"]);
  });

  it("fails acts that nothing asks for, and questions that no act answers", async () => {
    const unasked = await run({ ...caseOf("H1"), approvals: ["approve", "reject"] });
    expect(unasked.reasons).toEqual(["nothing was asked for the acts approve, reject"]);
    const { approvals: _, ...unanswered } = caseOf("A1");
    const waiting = await run({ ...unanswered, expect: { paused: false } });
    expect(waiting.reasons).toContain("no act answers the question about pay (ABOVE_AUTO)");
    expect(waiting.question).toBe("false_positive");
  });

  it("fails an earlier turn that does not end well", async () => {
    const result = await run({ ...caseOf("F1"), before: [{ message: "pay 500 to bob", script: [] }] });
    expect(result.reasons[0]).toBe("the model was asked 1 times and the script has 0 replies");
    expect(result.reasons[1]).toBe('the earlier turn "pay 500 to bob" is failed, expected done');
  });

  it("counts the last turn alone, and its cost", async () => {
    const result = await run(caseOf("F1"));
    const { inputTokens, outputTokens } = result.usage;
    expect(result.modelSteps).toBe(3);
    expect(result.costNanoUsd).toBe(inputTokens * 1000 + outputTokens * 2000);
  });

  it("leaves the cost out when the price is not known", async () => {
    const { prices: _, ...priceless } = app;
    const result = await runCase({ app: priceless, suite, case: caseOf("H1") });
    expect("costNanoUsd" in result).toBe(false);
  });

  it("rejects a fault that nobody knows", async () => {
    const faults = [{ when: "start", kind: "earthquake" }] as const;
    await expect(run({ ...caseOf("H1"), faults })).rejects.toThrow("unknown fault earthquake");
    const clock = [{ when: "start", kind: "clock", advanceMs: "soon" }] as const;
    await expect(run({ ...caseOf("H1"), faults: clock })).rejects.toMatchObject({ code: "BELAY_EVAL_CASE" });
  });
});
