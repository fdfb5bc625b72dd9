import { describe, expect, it } from "vitest";
import { decideCall, decideCallSync, type Rule } from "../../src/policy/index.ts";

const call = { callId: "c1", tool: "pay", args: {}, level: "write" } as const;
const context = {
  ...{ tenant: "t", runId: "r", step: 1, input: "", memory: [], calls: [], now: 0, recheck: false },
  principal: { kind: "customer", id: "a" } as const,
};
const rule = (decide: unknown): readonly Rule[] => [{ id: "r-1", decide: decide as Rule["decide"] }];

describe("POLICY_ERROR", () => {
  it.each([
    ["threw", () => Promise.reject(new Error("secret")), "the rule r-1 failed"],
    ["gave junk", () => ({ verdict: "perhaps" }), "the rule r-1 gave something that is not a verdict"],
  ])("names the rule that %s, and not what it threw", async (_, decide, reason) => {
    expect(await decideCall(rule(decide), call, context)).toEqual({
      ...{ verdict: "deny", code: "POLICY_ERROR", ruleId: "r-1" },
      reason,
    });
  });

  it("names the rule that answers too late to count", () => {
    expect(
      decideCallSync(
        rule(async () => undefined),
        call,
        context,
      ),
    ).toEqual({
      ...{ verdict: "deny", code: "POLICY_ERROR", ruleId: "r-1" },
      reason: "the rule r-1 answered with a promise where only an immediate answer counts",
    });
  });

  it.each([
    null,
    "allow",
    7,
    [],
    {},
    { verdict: "allow", code: 5, reason: "x" },
    { verdict: "allow", code: "OK", reason: 5 },
    { code: "OK", reason: "x", kind: "allow" },
    { verdict: "allow", reason: "x", kind: "OK" },
    { verdict: "allow", code: "OK", kind: "x" },
  ])("takes %j for no verdict", async (junk) => {
    expect(
      await decideCall(
        rule(() => junk),
        call,
        context,
      ),
    ).toMatchObject({
      reason: "the rule r-1 gave something that is not a verdict",
    });
  });
});

it("keeps a verdict's code and reason short", async () => {
  const decision = await decideCall(
    rule(() => ({ verdict: "deny", code: "C".repeat(9000), reason: "r".repeat(9000) })),
    call,
    context,
  );
  expect(decision.code.length).toBeLessThan(200);
  expect(decision.reason.length).toBeLessThan(3000);
  expect(decision).toMatchObject({ verdict: "deny", ruleId: "r-1" });
});
