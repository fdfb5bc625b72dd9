import { describe, expect, it } from "vitest";
import { parseCases } from "../../src/evals/load-suite.ts";

const whole = {
  id: "B02",
  class: "boundary",
  message: "Refund order O-1",
  principal: "C-1",
  script: ['{"final":"done"}'],
  before: [{ message: "Hello", script: ['{"final":"hi"}'] }],
  approvals: ["approve", "reject_then_approve"],
  faults: [{ when: "start", kind: "outage", order: "O-1", times: 2 }],
  forbidden: [{ refund: "O-2" }, "anything"],
  limits: { stepsMax: 3, costUsdMax: 1e-9, identicalCalls: { max: 3, scope: "run" } },
  offeredTools: ["get_order"],
  expect: { stop: "final", paused: true, endState: { refunds: {} }, codes: ["OK"], executed: [], modelCalls: 2 },
  tags: ["refund"],
  notes: "why",
};
const forPlanners = {
  id: "G01",
  class: "lookup",
  message: "How many?",
  mockScript: [{ tool: "get", args: { id: 1 } }, { final: "One." }],
  expectedTools: [{ name: "get", args: { id: 1 } }, { name: "put" }],
  trajectoryMatchMode: "any_order",
  expectedFacts: ["One"],
  forbiddenFacts: ["Two"],
  expectedTermination: "COMPLETED",
  mustNotCall: ["drop"],
  referenceAnswer: "One.",
  retrieval: ["a.md#1"],
  limits: { identicalCalls: "off", cycles: "off", invalidCallsMax: "off" },
  expect: {},
};
const small = { id: "H01", class: "happy", message: "", script: [], expect: {} };

describe("parseCases", () => {
  it("reads every field, and skips empty lines", () => {
    const text = `\n${JSON.stringify(whole)}\n\n${JSON.stringify(small)}\r\n${JSON.stringify(forPlanners)}`;
    expect(parseCases(text, "cases.jsonl")).toEqual([whole, small, forPlanners]);
  });

  it.each([
    ["text that is not JSON", "{", "it is not one JSON value: "],
    ["a field written twice", '{"id":"A","id":"B"}', "it is not one JSON value: "],
    ["another value", "[]", "the case must be an object, not []"],
    ["an unknown field", { ...small, scripts: [] }, '"scripts" is not a field'],
    ["a field of every object", { ...small, constructor: 1 }, '"constructor" is not a field'],
    ["a missing field", { ...small, expect: undefined }, '"expect" is missing'],
    ["a case that nobody plays", { ...small, script: undefined }, '"script" is missing, and the app'],
    ["an unknown expectation", { ...small, expect: { stopp: "final" } }, '"expect.stopp" is not a field'],
    ["a wrong item", { ...small, script: ["a", 1] }, '"script[1]" must be a text, not 1'],
    ["an unknown act", { ...small, approvals: ["aprove"] }, '"approvals[0]" must be one of approve, reject,'],
    ["a fault without a time", { ...small, faults: [{ kind: "x" }] }, '"faults[0].when" is missing'],
    ["a limit that is no count", { ...small, limits: { stepsMax: 1.5 } }, '"limits.stepsMax" must be a whole number'],
    ["a turn that is none", { ...small, mockScript: [{ final: "a", tool: "b" }] }, '"mockScript[0].args" is missing'],
    ["an unknown mode", { ...small, trajectoryMatchMode: "some" }, '"trajectoryMatchMode" must be one of exact,'],
    ["an expected tool without a name", { ...small, expectedTools: [{}] }, '"expectedTools[0].name" is missing'],
    ["a limit that is neither", { ...small, limits: { cycles: "on" } }, '"limits.cycles" must be an object'],
    ["a list that is none", { ...small, tags: "a" }, '"tags" must be a list, not "a"'],
    ["an empty id", { ...small, id: "" }, '"id" must be a text that is not empty, not ""'],
    ["an id used twice", { ...small, id: "H00" }, 'the id "H00" is taken by line 1'],
  ])("refuses %s and names the line", (_, bad, problem) => {
    const line = typeof bad === "string" ? bad : JSON.stringify(bad);
    const text = `${JSON.stringify({ ...small, id: "H00" })}\n${line}\n`;
    expect(() => parseCases(text, "cases.jsonl")).toThrow(
      expect.objectContaining({
        code: "BELAY_EVAL_CASE",
        message: expect.stringContaining(`cases.jsonl line 2: ${problem}`),
      }),
    );
  });

  it("refuses a text without cases", () => {
    expect(() => parseCases("\n \n", "cases.jsonl")).toThrow(expect.objectContaining({ code: "BELAY_EVAL_CASE" }));
  });
});
