import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  averagePrecision,
  claimsOf,
  contextPrecision,
  contextRecall,
  faithfulness,
  lexicalChecker,
  modelChecker,
} from "../../../src/evals/judges/index.ts";
import { scriptedModel } from "../../../src/model/index.ts";

const signal = new AbortController().signal;
const checker = lexicalChecker();
const RETURNS = "Customers may return unused goods within 45 days of delivery.";
const SHIPPING = "Express delivery costs $14.50 and takes one working day.";

describe("claimsOf", () => {
  it("splits at sentences, semicolons and lines, and not inside numbers", () => {
    expect(claimsOf("It costs $14.50. It is open; it is here\n- \nDone!")).toEqual([
      "It costs $14.50.",
      "It is open;",
      "it is here",
      "Done!",
    ]);
  });
});

describe("lexicalChecker", () => {
  it.each([
    ["Unused goods can be returned within 45 days.", true],
    ["Unused goods can be returned within 54 days.", false],
    ["Goods fly to the moon.", false],
  ])("says of %j: %s", async (claim, expected) => {
    expect(await checker.isSupported(claim, [SHIPPING, RETURNS], { signal })).toBe(expected);
  });

  it("wants a claim borne out by one text, not by two halves", async () => {
    const claim = "Express returns cost $14.50 within 45 days.";
    expect(await checker.isSupported(claim, [SHIPPING, RETURNS], { signal })).toBe(false);
  });
});

describe("faithfulness, recall and precision", () => {
  it("are shares of claims", async () => {
    const answer = "Unused goods return within 45 days. Express costs $99.";
    expect(await faithfulness(answer, [RETURNS, SHIPPING], checker)).toBe(0.5);
    expect(await contextRecall("Unused goods return within 45 days.", [SHIPPING], checker)).toBe(0);
    expect(await contextRecall("Unused goods return within 45 days.", [SHIPPING, RETURNS], checker)).toBe(1);
    expect(await faithfulness("...", [RETURNS], checker)).toBeNull();
  });

  it("rank useful texts", async () => {
    const reference = "Unused goods return within 45 days.";
    expect(await contextPrecision(reference, [RETURNS, SHIPPING], checker)).toBe(1);
    expect(await contextPrecision(reference, [SHIPPING, RETURNS], checker)).toBe(0.5);
    expect(await contextPrecision(reference, [SHIPPING], checker)).toBe(0);
    expect(await contextPrecision(reference, [], checker)).toBeNull();
  });

  it("average the precision at each useful place", () => {
    expect(averagePrecision([true, false, true])).toBeCloseTo((1 + 2 / 3) / 2, 12);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1 }), (useful) => {
        const sorted = useful.toSorted((one, other) => Number(other) - Number(one));
        const value = averagePrecision(useful) ?? -1;
        expect(value).toBeGreaterThanOrEqual(0);
        expect(averagePrecision(sorted)).toBe(useful.includes(true) ? 1 : 0);
        expect(value).toBeLessThanOrEqual(averagePrecision(sorted) ?? -1);
      }),
    );
  });
});

describe("modelChecker", () => {
  it.each([
    ['{"supported": true}', true],
    ['{"supported": false}', false],
    ['{"supported": "true"}', false],
    ["true", false],
  ])("takes %j for %s", async (text, expected) => {
    const model = scriptedModel([{ kind: "final", text }]);
    expect(await modelChecker(model).isSupported("a <b>", [RETURNS], { signal })).toBe(expected);
    const message = model.requests[0]?.messages[0];
    expect(message?.role === "user" && message.text).toContain("a &lt;b&gt;");
  });
});
