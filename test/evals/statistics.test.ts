import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wilson } from "../../src/evals/statistics.ts";

const digits = (value: number) => value.toFixed(3);

describe("wilson", () => {
  it.each([
    [40, 40, "0.912", "1.000"],
    [38, 40, "0.835", "0.986"],
    [0, 40, "0.000", "0.088"],
    [1, 1, "0.207", "1.000"],
    [50, 100, "0.404", "0.596"],
  ])("%i of %i is %s-%s", (successes, total, low, high) => {
    const interval = wilson(successes, total);
    expect([digits(interval.low), digits(interval.high)]).toEqual([low, high]);
  });

  it("knows other confidences", () => {
    // z is 2.5758 at 99 % and 1.6449 at 90 %; for n of n the low end is n / (n + z²).
    expect(wilson(10, 10, 0.99).low).toBeCloseTo(10 / (10 + 2.5758293035489 ** 2), 8);
    expect(wilson(10, 10, 0.9).low).toBeCloseTo(10 / (10 + 1.6448536269515 ** 2), 8);
    // A small confidence has its quantile in the middle of the distribution.
    expect(wilson(10, 10, 0.5).low).toBeCloseTo(10 / (10 + 0.674489750196 ** 2), 8);
  });

  it("knows nothing without observations", () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });

  it("holds the share between its ends, and is the mirror image of the failures' interval", () => {
    const counts = fc.integer({ min: 1, max: 5000 }).chain((total) => fc.tuple(fc.nat(total), fc.constant(total)));
    fc.assert(
      fc.property(counts, fc.double({ min: 0.5, max: 0.9999, noNaN: true }), ([successes, total], confidence) => {
        const interval = wilson(successes, total, confidence);
        const mirror = wilson(total - successes, total, confidence);
        expect(interval.low).toBeGreaterThanOrEqual(0);
        expect(interval.low).toBeLessThanOrEqual(successes / total);
        expect(interval.high).toBeGreaterThanOrEqual(successes / total);
        expect(interval.high).toBeLessThanOrEqual(1);
        expect(mirror.low).toBeCloseTo(1 - interval.high, 9);
      }),
    );
  });

  it.each([
    [41, 40, 0.95],
    [-1, 40, 0.95],
    [1.5, 40, 0.95],
    [1, 40, 1],
    [1, 40, Number.NaN],
  ])("refuses %d of %d at %d", (successes, total, confidence) => {
    expect(() => wilson(successes, total, confidence)).toThrow(
      expect.objectContaining({ code: "BELAY_STATISTICS_INVALID" }),
    );
  });
});
