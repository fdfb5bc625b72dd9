import { describe, expect, it } from "vitest";
import { detectLoops, type LoopCall } from "../../src/evals/index.ts";

const call = (step: number, args: LoopCall["args"], tool = "search"): LoopCall => ({ step, tool, args });
const kinds = (calls: readonly LoopCall[], window?: number) =>
  detectLoops(calls, window).map(({ kind, steps }) => [kind, ...steps]);

describe("detectLoops", () => {
  it("finds nothing in calls that differ", () => {
    expect(kinds([call(1, { q: "a" }), call(2, { q: "b" }), call(3, { q: "a" })])).toEqual([]);
    expect(kinds([call(1, { q: "a" }), call(2, { q: "a" }, "other")])).toEqual([]);
  });

  it("finds the same call twice in a row, however its arguments are written", () => {
    expect(kinds([call(1, { q: "a", n: 1 }), call(2, { n: 1, q: "a" }), call(3, { q: "b" })])).toEqual([
      ["repeated_identical_call", 1, 2],
    ]);
  });

  it("finds the same call often, also with others between", () => {
    const calls = ["a", "b", "a", "b", "a"].map((q, at) => call(at + 1, { q }));
    expect(kinds(calls)).toEqual([["loop", 1, 3, 5]]);
    expect(kinds(calls, 2)).toEqual([
      ["loop", 1, 3, 5],
      ["loop", 2, 4],
    ]);
  });

  it("finds a later call that asks for a part of an earlier one, and not the other way round", () => {
    const [wide, narrow] = [{ query: "tape", max: 5 }, { query: "tape" }];
    expect(kinds([call(1, wide), call(2, narrow)])).toEqual([["redundant_query", 1, 2]]);
    expect(kinds([call(1, narrow), call(2, wide)])).toEqual([]);
    expect(kinds([call(1, { query: "tape", max: 5 }), call(2, { query: "box" })])).toEqual([]);
    expect(kinds([call(1, "text"), call(2, null)])).toEqual([]);
  });
});
