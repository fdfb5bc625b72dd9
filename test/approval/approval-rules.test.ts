import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkApprovalRules, isNamed, ruleFor } from "../../src/approval/index.ts";
import type { ApprovalRule, Person } from "../../src/config.ts";
import { question } from "./support.ts";

const NOBODY = "no rule of the configuration says who answers this question";
const person = (id: string, ...roles: Person["roles"]): Person => ({ id, name: id, roles });
const amountOf = (cents: unknown) => question({ args: { cents } as never });

describe("ruleFor", () => {
  it("asks for one approver when there are no rules", () => {
    expect(ruleFor([], question())).toEqual({ ok: true, rule: {}, needed: 1 });
  });

  it("takes the first rule about the question, and as many approvals as it says", () => {
    const rules: readonly ApprovalRule[] = [
      { tools: ["cancel"], approvals: 5 },
      { tools: ["refund"], codes: ["OTHER"], approvals: 4 },
      { tools: ["cancel", "refund"], codes: ["OTHER", "LARGE"], approvals: 3 },
      { approvals: 2 },
    ];
    expect(ruleFor(rules, question())).toEqual({ ok: true, rule: rules[2], needed: 3 });
    expect(ruleFor(rules, question({ tool: "cancel" }))).toEqual({ ok: true, rule: rules[0], needed: 5 });
    expect(ruleFor(rules, question({ code: "OTHER" }))).toEqual({ ok: true, rule: rules[1], needed: 4 });
    expect(ruleFor(rules, question({ tool: "email" }))).toEqual({ ok: true, rule: rules[3], needed: 2 });
    expect(ruleFor([{ codes: ["LARGE"] }], question())).toEqual({ ok: true, rule: { codes: ["LARGE"] }, needed: 1 });
  });

  it("leaves a question that no rule is about to nobody", () => {
    expect(ruleFor([{ tools: [] }, { codes: ["OTHER"] }], question())).toEqual({ ok: false, reason: NOBODY });
  });

  it.each([
    [99, 0],
    [100, 1],
    [199.5, 1],
    [200, 2],
    [-1, 0],
    [1e15, 2],
  ])("puts %d into the range %d: from belongs to it and below does not", (cents, at) => {
    const rules: readonly ApprovalRule[] = [
      { amount: { argument: "cents", below: 100 } },
      { amount: { argument: "cents", from: 100, below: 200 }, approvals: 2 },
      { amount: { argument: "cents", from: 200 }, approvals: 3 },
    ];
    expect(ruleFor(rules, amountOf(cents))).toEqual({ ok: true, rule: rules[at], needed: at + 1 });
  });

  it("looks further when the amount is out of the range", () => {
    const range: ApprovalRule = { amount: { argument: "cents", from: 1000 } };
    expect(ruleFor([range], question())).toEqual({ ok: false, reason: NOBODY });
    expect(ruleFor([range, {}], question())).toEqual({ ok: true, rule: {}, needed: 1 });
  });

  it.each<[string, unknown]>([
    ["a text", { cents: "300" }],
    ["no such argument", { paise: 300 }],
    ["not a number", { cents: Number.NaN }],
    ["without end", { cents: Number.POSITIVE_INFINITY }],
    ["null", null],
    ["a list", [300]],
    ["a text for arguments", "cents"],
    ["only inherited", Object.create({ cents: 300 })],
  ])("leaves a question whose amount cannot be read (%s) to nobody, whatever rules follow", (_, args) => {
    const found = ruleFor([{ amount: { argument: "cents", from: 0 } }, {}], question({ args: args as never }));
    expect(found).toEqual({ ok: false, reason: "the amount cents of this call cannot be read, so nobody may" });
  });

  it("does not read the amount of a call that the rule is not about", () => {
    const rules: readonly ApprovalRule[] = [{ tools: ["cancel"], amount: { argument: "cents" } }, {}];
    expect(ruleFor(rules, question({ args: {} }))).toMatchObject({ ok: true, rule: {} });
  });

  it("does not find an amount in what every list or object has", () => {
    expect(ruleFor([{ amount: { argument: "length" } }], question({ args: [1, 2] })).ok).toBe(false);
  });

  it("puts every amount into one of two ranges that meet", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), (cents, edge) => {
        const low: ApprovalRule = { amount: { argument: "cents", below: edge }, approvals: 1 };
        const high: ApprovalRule = { amount: { argument: "cents", from: edge }, approvals: 2 };
        const found = ruleFor([low, high], amountOf(cents));
        expect(found).toMatchObject({ ok: true, needed: cents < edge ? 1 : 2 });
      }),
    );
  });
});

describe("isNamed", () => {
  it.each<[Person["roles"], boolean]>([
    [["approver"], true],
    [["admin"], true],
    [["viewer", "approver"], true],
    [["viewer"], false],
    [["operator"], false],
    [[], false],
  ])("without roles in the rule, %j may: %s", (roles, may) => {
    expect(isNamed({}, person("dana", ...roles))).toBe(may);
  });

  it("holds to the roles of the rule, and needs only one of them", () => {
    const rule: ApprovalRule = { roles: ["operator", "admin"] };
    expect(isNamed(rule, person("oli", "operator", "viewer"))).toBe(true);
    expect(isNamed(rule, person("dana", "approver"))).toBe(false);
  });

  it("asks a named person for the role as well", () => {
    const rule: ApprovalRule = { persons: ["dana", "eve"] };
    expect(isNamed(rule, person("dana", "approver"))).toBe(true);
    expect(isNamed(rule, person("dana", "viewer"))).toBe(false);
    expect(isNamed(rule, person("frank", "admin"))).toBe(false);
    expect(isNamed({ persons: [] }, person("dana", "admin"))).toBe(false);
  });
});

describe("checkApprovalRules", () => {
  it.each<[string, ApprovalRule]>([
    ["nothing", {}],
    ["one approval", { approvals: 1 }],
    ["ten approvals", { approvals: 10 }],
    ["exactly as many persons as it needs", { approvals: 2, persons: ["dana", "eve"] }],
    ["one person for the one approval", { persons: ["dana"] }],
    ["a range with both ends", { amount: { argument: "cents", from: 0, below: 100 } }],
    ["a range with one end", { amount: { argument: "cents", from: 5 } }],
    ["an amount without a range", { amount: { argument: "cents" } }],
  ])("takes a rule with %s", (_, rule) => {
    expect(() => checkApprovalRules([rule])).not.toThrow();
  });

  it.each<[string, ApprovalRule]>([
    ["no approval", { approvals: 0 }],
    ["less than one", { approvals: -1 }],
    ["eleven", { approvals: 11 }],
    ["one and a half", { approvals: 1.5 }],
    ["too few persons", { approvals: 2, persons: ["dana"] }],
    ["one person twice", { approvals: 2, persons: ["dana", "dana"] }],
    ["nobody", { persons: [] }],
    ["an end that is no number", { amount: { argument: "cents", from: Number.NaN } }],
    ["an end without end", { amount: { argument: "cents", from: 0, below: Number.POSITIVE_INFINITY } }],
  ])("refuses a rule with %s, and says which one it is", (_, rule) => {
    expect(() => checkApprovalRules([{}, rule])).toThrow(
      expect.objectContaining({
        code: "BELAY_SERVER_SETTINGS",
        message:
          "Rule 2 of 'approvals' cannot be followed: it needs 1 to 10 approvals, at least as many persons where it " +
          "names them, and finite amounts.",
      }),
    );
  });

  it("takes no rules at all", () => {
    expect(() => checkApprovalRules([])).not.toThrow();
  });
});
