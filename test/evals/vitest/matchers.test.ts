import { beforeAll, describe, expect, it } from "vitest";
import type { AnyApp } from "../../../src/config.ts";
import { type CaseResult, caseAssertions, checkVacuity, openSuite, runSuite } from "../../../src/evals/index.ts";
import { belayMatchers } from "../../../src/evals/vitest/index.ts";
import bank from "../../cli/fixtures/bank.ts";

const app: AnyApp = bank;
const result = await runSuite(app, "reference");
const without = await runSuite(app, "reference", { without: ["rule:named_account"] });
const caseOf = (id: string, of = result): CaseResult => of.cases.find((each) => each.id === id) as CaseResult;

beforeAll(() => {
  expect.extend({ ...belayMatchers });
});

describe("the matchers for Vitest", () => {
  it("let good results pass", () => {
    expect(result).toPassSuite();
    expect(caseOf("H1")).toPassCase();
    expect(caseOf("H1")).toHaveExecuted(["pay"]);
    expect(caseOf("H1")).toStopWith("final");
  });

  it("fail for bad ones, and say why", () => {
    expect(without).not.toPassSuite();
    expect(() => expect(without).toPassSuite()).toThrow(/1 of 10 cases of reference fail\n {2}I1: .*paid to bob/);
    expect(() => expect(caseOf("I1", without)).toPassCase()).toThrow(/case I1: .*paid to bob/);
    expect(() => expect(caseOf("H1")).not.toPassCase()).toThrow("case H1 passes");
    expect(() => expect(caseOf("H1")).toHaveExecuted(["pay", "pay"])).toThrow("executed pay, compared with pay, pay");
    expect(() => expect(caseOf("H1")).toStopWith("budget")).toThrow("it ended with final, compared with budget");
    expect({ ...result, cases: [] }).not.toPassSuite();
  });

  it("see codes and the audit log, which a case that passed may still have wrong", () => {
    const good = caseOf("H1");
    expect({ ...good, auditIntact: false }).not.toPassCase();
    expect(() => expect({ ...good, expectedCodes: ["NOPE"] }).toPassCase()).toThrow("expected NOPE");
  });

  it("tell assertions that bite from those that do not", async () => {
    const suite = await openSuite(app, "reference");
    const evalCase = suite.cases.find(({ id }) => id === "H1");
    const { calls, ...rest } = caseOf("H1");
    const trajectory = {
      ...{ executed: rest.executed, stop: rest.stop, paused: rest.paused, modelSteps: rest.modelSteps },
      ...{ endState: rest.endState, forbidden: [], isCompleted: true },
      calls: calls.map((call, at) => ({ ...call, decisionCode: rest.codes[at] ?? "" })),
    };
    const context = {
      ...{ forbiddenCall: { tool: "wipe", args: {} }, leak: "secret", untouchedState: {} },
      hasEffect: () => true,
    };
    expect(evalCase).toBeDefined();
    expect(checkVacuity(evalCase === undefined ? () => [] : caseAssertions(evalCase), trajectory, context)).toBite();
    const vacuous = checkVacuity(() => [], trajectory, context);
    expect(() => expect(vacuous).toBite()).toThrow(/the assertions are vacuous; not noticed: without call 1/);
    expect(() => expect(checkVacuity(() => ["no"], trajectory, context)).toBite()).toThrow("does not pass");
  });
});
