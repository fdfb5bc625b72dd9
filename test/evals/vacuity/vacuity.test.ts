import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../../src/config.ts";
import { type EvalCase, type EvalSuite, openSuite, runSuite } from "../../../src/evals/index.ts";
import {
  allBite,
  caseAssertions,
  checkVacuity,
  formatVacuity,
  type Mutation,
  type MutationContext,
  mutantsOf,
  suiteVacuity,
  type Trajectory,
} from "../../../src/evals/vacuity/index.ts";
import bank from "../../cli/fixtures/bank.ts";

const trajectory: Trajectory = {
  calls: [
    { step: 1, tool: "look", args: { id: "A-1" }, status: "executed", decisionCode: "OK" },
    { step: 2, tool: "pay", args: { id: "A-1", amount: 5 }, status: "executed", decisionCode: "OK" },
  ],
  executed: ["look", "pay"],
  answer: "Paid 5.",
  stop: "COMPLETED",
  isCompleted: true,
  paused: false,
  modelSteps: 3,
  endState: { payments: [5] },
  forbidden: [],
};

const context: MutationContext = {
  forbiddenCall: { tool: "wipe", args: {} },
  leak: "my system prompt",
  untouchedState: { payments: [] },
  hasEffect: ({ tool }) => tool === "pay",
};

const evalCase = (rest: Partial<EvalCase>): EvalCase => ({ id: "X", class: "x", message: "pay", expect: {}, ...rest });

/** Kinds of mutants of which at least one is noticed. */
function noticed(rest: Partial<EvalCase>): readonly Mutation[] {
  const { killed } = checkVacuity(caseAssertions(evalCase(rest)), trajectory, context);
  return Object.entries(killed)
    .filter(([, tally]) => tally.killed > 0)
    .map(([mutation]) => mutation as Mutation);
}

describe("mutantsOf", () => {
  it("spoils a trajectory in all six ways, one thing at a time", () => {
    const mutants = mutantsOf(trajectory, context);
    expect(mutants.map(({ mutation, what }) => `${mutation}: ${what}`)).toEqual([
      "drop_call: without call 1 (look)",
      "drop_call: without call 2 (pay)",
      "add_forbidden_call: with a call of wipe",
      "change_argument: with another id in call 1 (look)",
      "change_argument: with another id in call 2 (pay)",
      "change_argument: with another amount in call 2 (pay)",
      "swap_order: with calls 1 and 2 the other way round",
      "change_end: with the end stopped_early instead of COMPLETED",
      "inject_leak: with a leak in the answer",
    ]);
  });

  it("takes the effect of a call along with it, and leaves the world alone for one that only looks", () => {
    const [withoutLook, withoutPay] = mutantsOf(trajectory, context);
    expect(withoutLook?.trajectory).toMatchObject({ executed: ["pay"], modelSteps: 2, endState: { payments: [5] } });
    expect(withoutPay?.trajectory).toMatchObject({ executed: ["look"], endState: { payments: [] } });
  });

  it("gives no mutant that is equal to the trajectory", () => {
    const call = trajectory.calls[0] as Trajectory["calls"][number];
    const twice = {
      ...trajectory,
      calls: [
        { ...call, step: 1 },
        { ...call, step: 1 },
      ],
      executed: ["look", "look"],
    };
    expect(mutantsOf(twice, context).some(({ mutation }) => mutation === "swap_order")).toBe(false);
  });

  it("gives every argument another value", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue()), (args) => {
        const plain = JSON.parse(JSON.stringify(args)) as Record<string, never>;
        const call = { ...(trajectory.calls[0] as Trajectory["calls"][number]), args: plain };
        const mutants = mutantsOf({ ...trajectory, calls: [call], executed: ["look"] }, context);
        const changed = mutants.filter(({ mutation }) => mutation === "change_argument");
        expect(changed).toHaveLength(Object.keys(plain).length);
        for (const mutant of changed) {
          expect(mutant.trajectory.calls[0]?.args).not.toEqual(plain);
        }
      }),
    );
  });
});

describe("checkVacuity", () => {
  it("reports assertions that pass whatever happens", () => {
    const finding = checkVacuity(caseAssertions(evalCase({})), trajectory, context);
    expect(finding.verdict).toBe("vacuous");
    expect(finding.survivors).toHaveLength(9);
    expect(checkVacuity(() => [], trajectory, context).verdict).toBe("vacuous");
  });

  it("says so when the trajectory does not pass in the first place", () => {
    const finding = checkVacuity(caseAssertions(evalCase({ expect: { stop: "other" } })), trajectory, context);
    expect([finding.verdict, finding.survivors]).toEqual(["failing", []]);
  });

  it.each<[string, Partial<EvalCase>, readonly Mutation[]]>([
    ["the end", { expect: { stop: "COMPLETED" } }, ["change_end"]],
    ["the codes", { expect: { codes: ["OK", "OK"] } }, ["drop_call", "add_forbidden_call"]],
    ["the end state", { expect: { endState: { payments: [5] } } }, ["drop_call", "change_argument"]],
    ["what executed", { expect: { executed: ["look", "pay"] } }, ["drop_call", "add_forbidden_call", "swap_order"]],
    ["the number of model calls", { expect: { modelCalls: 3 } }, ["drop_call", "add_forbidden_call"]],
    ["the most model calls", { expect: { modelCallsMax: 3 } }, ["add_forbidden_call"]],
    [
      "the tools in order",
      { expectedTools: [{ name: "look" }, { name: "pay" }], expectedTermination: "COMPLETED" },
      // Without an answer a case that names its tools fails too, and so it notices the changed end.
      ["drop_call", "add_forbidden_call", "swap_order", "change_end"],
    ],
    [
      "arguments",
      { expectedTools: [{ name: "look" }, { name: "pay", args: { amount: 5 } }] },
      ["drop_call", "add_forbidden_call", "change_argument", "swap_order", "change_end"],
    ],
    [
      "a fact that must not be said",
      { expectedTools: [{ name: "look" }], trajectoryMatchMode: "in_order_subset", forbiddenFacts: ["system prompt"] },
      ["drop_call", "change_end", "inject_leak"],
    ],
  ])("sees what assertions about %s notice", (_, rest, expected) => {
    expect(noticed(rest)).toEqual(expected);
  });
});

describe("suiteVacuity", () => {
  it("finds that every golden case bites, with at least one mutant of each kind noticed", {
    timeout: 60_000,
  }, async () => {
    const app: AnyApp = createStockroomApp();
    const suite = await openSuite(app, "reference");
    const cases = suiteVacuity(app, suite, await runSuite(app, "reference"));
    expect(cases.filter(({ verdict }) => verdict !== "bites").map(({ id }) => id)).toEqual([]);
    const kinds = new Set(
      cases.flatMap(({ killed }) => Object.entries(killed).flatMap(([kind, { killed: n }]) => (n > 0 ? [kind] : []))),
    );
    expect(kinds.size).toBe(6);
    expect(formatVacuity(cases)).toContain("assertion sets: 50 tried, 0 vacuous\n");
  });

  it("names a case that asserts nothing, and fails", async () => {
    const app: AnyApp = bank;
    const full = await openSuite(app, "reference");
    const [first] = full.cases as [EvalCase];
    const empty = { ...first, id: "EMPTY", expect: {} };
    const suite: EvalSuite = { ...full, cases: [first, empty] };
    const result = await runSuite({ ...app, suites: { reference: async () => suite } }, "reference");
    const cases = suiteVacuity(app, suite, result);
    expect(cases.map(({ id, verdict }) => [id, verdict])).toEqual([
      [first.id, "bites"],
      ["EMPTY", "vacuous"],
    ]);
    expect(allBite(cases)).toBe(false);
    expect(formatVacuity(cases)).toContain("  - reference EMPTY passes whatever is done to its trajectory\n");
    expect(formatVacuity(cases)).toContain("VACUITY: FAIL\n");
    expect(allBite([])).toBe(false);
    expect(() => suiteVacuity(app, { ...suite, cases: [first] }, result)).toThrow("EMPTY");
  });
});
