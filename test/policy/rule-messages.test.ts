import { describe, expect, it } from "vitest";
import { allow, checkRules, defineRule, type Rule } from "../../src/policy/index.ts";

const rule = (change: object = {}): Rule => ({
  id: "limit",
  tools: ["refund"],
  decide: () => allow("OK", "ok"),
  ...change,
});
const ID =
  'Use 1 to 64 ASCII letters, digits, "_", ".", ":" and "-", and none of belay.read_only, belay.no_rule, belay.risk.';

describe("a policy that cannot be followed", () => {
  it.each<[string, unknown, readonly string[], string, string]>([
    [
      "two ids",
      [rule(), rule()],
      ["refund"],
      "BELAY_RULE_DUPLICATE",
      'Two rules have the id "limit". Rename one of them.',
    ],
    ["no rule", [null], ["refund"], "BELAY_RULE_INVALID", `"undefined" cannot be the id of a rule. ${ID}`],
    ["no id", [rule({ id: "" })], ["refund"], "BELAY_RULE_INVALID", `"" cannot be the id of a rule. ${ID}`],
    ["a long id", [rule({ id: "x".repeat(65) })], ["refund"], "BELAY_RULE_INVALID", ID],
    ["an id of the harness", [rule({ id: "belay.no_rule" })], ["refund"], "BELAY_RULE_INVALID", ID],
    [
      "a line end",
      [rule({ id: "a\nb" })],
      ["refund"],
      "BELAY_RULE_INVALID",
      `"a\\u{a}b" cannot be the id of a rule. ${ID}`,
    ],
    [
      "no function",
      [rule({ decide: 5 })],
      ["refund"],
      "BELAY_RULE_INVALID",
      'The rule "limit" has no decide function. Add one.',
    ],
    [
      "no tools",
      [rule({ tools: [] })],
      ["refund"],
      "BELAY_RULE_INVALID",
      'The rule "limit" has no tool in its tools, so it would never be asked. Name one, or leave it out.',
    ],
    [
      "another tool",
      [rule()],
      ["cancel", "email"],
      "BELAY_RULE_UNKNOWN_TOOL",
      'The rule "limit" speaks about the tool "refund", which the agent does not have. Use one of: cancel, email.',
    ],
    ["an agent without tools", [rule()], [], "BELAY_RULE_UNKNOWN_TOOL", "Use one of: (none)."],
  ])("says what is wrong and what to do: %s", (_, rules, tools, code, message) => {
    expect(() => checkRules(rules as readonly Rule[], tools)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it("is none with the longest id, several tools, or a rule about all of them", () => {
    const { tools: _, ...about } = rule({ id: "x".repeat(64) });
    expect(() => checkRules([about, rule({ tools: ["refund", "cancel"] })], ["cancel", "refund"])).not.toThrow();
  });
});

it("defineRule gives the rule back as it is", () => {
  const own = rule();
  expect(defineRule(own)).toBe(own);
});
