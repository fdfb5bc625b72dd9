import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  caseBootstrap,
  clopperPearson,
  cohenKappa,
  floorIsSafe,
  mcnemarExact,
  minimumDetectableEffect,
  pairedFlips,
  passHatK,
  requiredMaxDrop,
  runToRun,
  seededRandom,
  upperBound,
} from "../../../src/evals/inference/index.ts";

describe("exact rates", () => {
  it("prints an upper bound beside a zero: 0 of 40 is compatible with 7.2 %", () => {
    expect(upperBound(0, 40)).toBeCloseTo(0.0722, 4);
    // Closed form for zero events: 1 - (1 - confidence)^(1/n).
    for (const total of [1, 8, 40, 500]) expect(upperBound(0, total)).toBeCloseTo(1 - 0.05 ** (1 / total), 10);
    expect(upperBound(5, 5)).toBe(1);
    expect(upperBound(0, 0)).toBe(1);
  });

  it("agrees with published values of the exact interval", () => {
    const tenth = clopperPearson(1, 10);
    expect([tenth.low, tenth.high].map((value) => value.toFixed(4))).toEqual(["0.0025", "0.4450"]);
    const all = clopperPearson(40, 40);
    expect([all.low.toFixed(4), all.high]).toEqual(["0.9119", 1]);
    expect(clopperPearson(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it("covers the rate at least as often as it promises", () => {
    // Exactly, by summing the binomial over all outcomes whose interval holds the rate.
    for (const rate of [0.01, 0.1, 0.5, 0.93]) {
      const total = 25;
      let covered = 0;
      for (let k = 0; k <= total; k += 1) {
        const { low, high } = clopperPearson(k, total);
        if (low <= rate && rate <= high) covered += binomial(total, k) * rate ** k * (1 - rate) ** (total - k);
      }
      expect(covered).toBeGreaterThanOrEqual(0.95);
    }
  });

  it("refuses counts that are none", () => {
    for (const [k, n] of [
      [1, 0],
      [-1, 5],
      [0.5, 2],
      [Number.NaN, 2],
    ] as const) {
      expect(() => clopperPearson(k, n)).toThrow(expect.objectContaining({ code: "BELAY_STATISTICS_INVALID" }));
      expect(() => upperBound(k, n)).toThrow(expect.objectContaining({ code: "BELAY_STATISTICS_INVALID" }));
    }
  });
});

describe("bootstrap", () => {
  it("is the same for the same seed, holds the mean, and stays inside its bounds", () => {
    const values = [[1, 0.5], [0.9], [0.2, 0.4], [1], [0.7]];
    const one = caseBootstrap(values, { bounds: { low: 0, high: 1 } });
    expect(caseBootstrap(values, { bounds: { low: 0, high: 1 } })).toEqual(one);
    const many = Array.from({ length: 40 }, (_, index) => [Math.sin(index) ** 2]);
    expect(caseBootstrap(many, { seed: 1 }).low).not.toBe(caseBootstrap(many).low);
    expect(one.mean).toBeCloseTo((0.75 + 0.9 + 0.3 + 1 + 0.7) / 5, 12);
    expect(one.low).toBeLessThan(one.mean);
    expect(one.high).toBeGreaterThan(one.mean);
    expect(one.high).toBeLessThanOrEqual(1);
  });

  it("averages the repeats of a case first: repeats of one case are not more cases", () => {
    const few = caseBootstrap([[0], [1]]);
    const many = caseBootstrap([Array(50).fill(0), Array(50).fill(1)]);
    expect(many).toEqual(few);
  });

  it("says that it is degenerate where all values are equal, as at 50 of 50", () => {
    expect(caseBootstrap(Array.from({ length: 50 }, () => [1]))).toEqual({
      mean: 1,
      low: 1,
      high: 1,
      isDegenerate: true,
    });
    expect(() => caseBootstrap([])).toThrow(/at least one case/);
    expect(() => caseBootstrap([[1], []])).toThrow(/a value in each/);
    expect(() => caseBootstrap([[Number.NaN]])).toThrow(/finite/);
  });
});

describe("spread over repeats", () => {
  it("reproduces the published values", () => {
    expect(runToRun([0.9, 0.88, 0.92]).deviation).toBeCloseTo(0.02, 12);
    expect(requiredMaxDrop(0.02)).toBe(0.06);
    expect(requiredMaxDrop(0.04)).toBe(0.12);
    expect(floorIsSafe(0.9, 0.02, 0.85)).toBe(true);
    expect(floorIsSafe(0.9, 0.03, 0.85)).toBe(false);
    expect(requiredMaxDrop(0)).toBe(0);
  });

  it("estimates pass^k without bias", () => {
    expect(passHatK(3, 4, 1)).toBe(0.75);
    expect(passHatK(3, 4, 2)).toBeCloseTo(0.5, 12);
    expect(passHatK(3, 4, 4)).toBe(0);
    expect(() => passHatK(3, 4, 5)).toThrow(/pass\^5/);
  });
});

describe("comparisons", () => {
  it("pairs each case with its outcome before and refuses other cases", () => {
    const before = new Map([
      ["a", true],
      ["b", true],
      ["c", false],
    ]);
    expect(
      pairedFlips(
        before,
        new Map([
          ["a", true],
          ["b", false],
          ["c", true],
        ]),
      ),
    ).toEqual({ lost: ["b"], won: ["c"] });
    expect(() =>
      pairedFlips(
        before,
        new Map([
          ["a", true],
          ["d", true],
        ]),
      ),
    ).toThrow(/missing now b, c, new d/);
  });

  it("is the exact two-sided test of the flips", () => {
    expect(mcnemarExact(0, 0)).toBe(1);
    expect(mcnemarExact(5, 0)).toBeCloseTo(2 * 0.5 ** 5, 12);
    expect(mcnemarExact(10, 2)).toBeCloseTo(0.0386, 3);
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.nat(30),
        (a, b) => mcnemarExact(a, b) === mcnemarExact(b, a) && mcnemarExact(a, b) <= 1,
      ),
    );
  });

  it("says how small a difference can be seen", () => {
    expect(minimumDetectableEffect(40, 0.95)).toBeGreaterThan(0.1);
    expect(minimumDetectableEffect(4000, 0.95)).toBeLessThan(0.02);
    expect(minimumDetectableEffect(40, 1)).toBeGreaterThan(0);
    expect(() => minimumDetectableEffect(0, 0.5)).toThrow();
  });
});

describe("agreement", () => {
  it("reproduces the published kappas of the calibration set", () => {
    const truth = [...Array(12).fill("pass"), ...Array(12).fill("fail")];
    const flipped = (falsePasses: number) =>
      truth.map((label, i) => (i >= 12 && i < 12 + falsePasses ? "pass" : label));
    expect(cohenKappa(truth, flipped(9)).kappa).toBeCloseTo(0.25, 12);
    const second = cohenKappa(truth, flipped(2));
    expect([second.agreement.toFixed(4), second.kappa.toFixed(4)]).toEqual(["0.9167", "0.8333"]);
    expect(cohenKappa(truth, truth)).toMatchObject({ kappa: 1, agreement: 1 });
    expect(() => cohenKappa(["a"], [])).toThrow(/equally long/);
  });
});

it("draws the same numbers for the same seed, evenly enough", () => {
  const random = seededRandom(7);
  const again = seededRandom(7);
  const values = Array.from({ length: 10_000 }, () => random());
  expect(values).toEqual(Array.from({ length: 10_000 }, () => again()));
  expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...values)).toBeLessThan(1);
  expect(values.reduce((sum, value) => sum + value, 0) / values.length).toBeCloseTo(0.5, 1);
});

function binomial(n: number, k: number): number {
  let value = 1;
  for (let i = 1; i <= k; i += 1) value = (value * (n - k + i)) / i;
  return value;
}
