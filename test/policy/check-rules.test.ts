import { describe, expect, it } from "vitest";
import { allow, ask, checkRules, decideCall, deny, policyHash, type Rule, riskRule } from "../../src/policy/index.ts";
import type { ToolContract } from "../../src/tool/index.ts";

const rule: Rule = { id: "limit", tools: ["refund"], decide: () => allow("OK", "fine") };

describe("checkRules", () => {
  it("takes a sound policy", () => {
    expect(checkRules([rule, { ...rule, id: "shop.limit-2" }], ["refund"])).toBeUndefined();
  });

  it("refuses a rule about a tool that does not exist, and lists those that do", () => {
    expect(() => checkRules([{ ...rule, tools: ["refund", "refnud"] }], ["refund", "cancel"])).toThrow(
      expect.objectContaining({
        code: "BELAY_RULE_UNKNOWN_TOOL",
        message: expect.stringMatching(/"refnud".*refund, cancel/),
      }),
    );
  });

  it("refuses an id that occurs twice", () => {
    expect(() => checkRules([rule, rule], ["refund"])).toThrow(
      expect.objectContaining({ code: "BELAY_RULE_DUPLICATE" }),
    );
  });

  it.each([
    [{ id: "" }],
    [{ id: "two words" }],
    [{ id: "limit\u200b" }],
    [{ id: undefined }],
    [{ id: "belay.read_only" }],
    [{ id: "belay.risk" }],
    [{ decide: undefined }],
    [{ tools: [] }],
    [{ tools: "refund" }],
  ])("refuses the shape %j", (change) => {
    expect(() => checkRules([{ ...rule, ...change } as Rule], ["refund"])).toThrow(
      expect.objectContaining({ code: "BELAY_RULE_INVALID" }),
    );
  });
});

describe("policyHash", () => {
  it("changes with ids, tools, code and order, and with nothing else", () => {
    const other: Rule = { id: "other", decide: () => ask("BIG", "big") };
    const first = policyHash([rule, other]);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(policyHash([{ ...rule }, { ...other }])).toBe(first);
    const changed = [
      [other, rule],
      [rule],
      [{ ...rule, id: "limit2" }, other],
      [{ ...rule, tools: ["cancel"] }, other],
      [{ id: rule.id, decide: rule.decide }, other],
      [{ ...rule, decide: () => deny("NO", "no") }, other],
    ].map(policyHash);
    expect(new Set([first, ...changed]).size).toBe(changed.length + 1);
  });
});

describe("riskRule", () => {
  const contract = { name: "wire", risk: "may_happen_twice_or_unknown" } as ToolContract;

  it("makes every call of a risky tool ask, also when another rule allows it", () => {
    const risk = riskRule([contract, { name: "get" } as ToolContract]);
    expect(risk?.tools).toEqual(["wire"]);
    const allowing: Rule = { id: "ok", decide: () => allow("OK", "") };
    const context = {
      tenant: "t",
      principal: { kind: "person", id: "p" },
      runId: "r",
      step: 1,
      input: "",
      memory: [],
      calls: [],
      now: 0,
      recheck: false,
    } as const;
    const rules = [allowing, ...(risk === undefined ? [] : [risk])];
    expect(decideCall(rules, { callId: "c", tool: "wire", args: {}, level: "irreversible" }, context)).toMatchObject({
      verdict: "ask",
      ruleId: "belay.risk",
    });
    expect(decideCall(rules, { callId: "c", tool: "get", args: {}, level: "write" }, context)).toMatchObject({
      verdict: "allow",
    });
  });

  it("is absent when no tool is risky", () => {
    expect(riskRule([{ name: "get" } as ToolContract])).toBeUndefined();
  });
});
