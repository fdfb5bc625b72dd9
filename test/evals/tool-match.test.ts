import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentShare, type MatchedCall, toolsMatch, trajectoryMatches } from "../../src/evals/tool-match.ts";

const calls = (...names: readonly string[]): MatchedCall[] => names.map((tool) => ({ tool, args: {} }));
const expected = (...names: readonly string[]) => names.map((name) => ({ name }));

describe("toolsMatch", () => {
  it.each([
    ["exact", ["a", "b"], ["a", "b"], true],
    ["exact", ["a", "b"], ["b", "a"], false],
    ["exact", ["a"], ["a", "a"], false],
    ["exact", [], [], true],
    ["exact", [], ["a"], false],
    ["in_order_subset", ["a", "b"], ["a", "x", "b", "y"], true],
    ["in_order_subset", ["a", "b"], ["b", "a"], false],
    ["in_order_subset", ["a", "a"], ["a"], false],
    ["any_order", ["a", "b"], ["b", "a"], true],
    ["any_order", ["a", "b"], ["a", "a"], false],
    ["any_order", ["a", "b"], ["a", "b", "b"], false],
  ] as const)("%s: %j against %j is %s", (mode, wanted, made, result) => {
    expect(toolsMatch(expected(...wanted), calls(...made), mode)).toBe(result);
  });

  it("takes what is exactly right in every mode", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 5 }), (names) => {
        for (const mode of ["exact", "in_order_subset", "any_order"] as const) {
          expect(toolsMatch(expected(...names), calls(...names), mode)).toBe(true);
        }
        expect(toolsMatch(expected(...names), calls(...names.toReversed()), "any_order")).toBe(true);
      }),
    );
  });
});

describe("arguments", () => {
  const wanted = [
    { name: "get", args: { id: 1 } },
    { name: "get", args: { id: 2 } },
  ];
  const made: MatchedCall[] = [
    { tool: "get", args: { id: 2, more: true } },
    { tool: "get", args: { id: 1 } },
  ];

  it("are compared where the case names them", () => {
    expect(trajectoryMatches(wanted, made, "any_order")).toBe(true);
    expect(trajectoryMatches(wanted, made, "exact")).toBe(false);
    expect(toolsMatch(wanted, made, "exact")).toBe(true);
    expect(trajectoryMatches([{ name: "get", args: { toString: 1 } }], [{ tool: "get", args: {} }], "exact")).toBe(
      false,
    );
  });

  it("find a partner for each expectation, even when the first one that fits is needed elsewhere", () => {
    const loose = [{ name: "get" }, { name: "get", args: { id: 2 } }];
    expect(trajectoryMatches(loose, made, "any_order")).toBe(true);
  });

  it("count by the expected calls that were made", () => {
    expect(argumentShare(wanted, made)).toBe(1);
    expect(argumentShare(wanted, made.slice(0, 1))).toBe(0.5);
    expect(argumentShare([], made)).toBe(1);
    expect(argumentShare([{ name: "get", args: { id: [1] } }], [{ tool: "get", args: { id: [1] } }])).toBe(1);
  });
});
