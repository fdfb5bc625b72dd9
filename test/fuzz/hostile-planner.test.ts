import { describe, expect, it } from "vitest";
import { fuzzDirectly } from "./shop/direct.ts";
import { fuzzThroughEngine } from "./shop/through-engine.ts";

const DIRECT = 100_000;
const THROUGH_ENGINE = 5_000;

describe("a hostile planner at the shop", () => {
  it(`proposes ${DIRECT} calls to the rules and tools, and nothing forbidden happens`, () => {
    const tally = fuzzDirectly(1, DIRECT);
    expect(tally.forbidden).toEqual([]);
    expect(tally.proposals).toBe(DIRECT);
    // Enough happens and enough is refused for the silence to mean something.
    expect(tally.effects.refund).toBeGreaterThan(500);
    expect(tally.effects.cancel).toBeGreaterThan(100);
    expect(tally.effects.email).toBeGreaterThan(1_000);
    for (const count of Object.values(tally.handled)) expect(count).toBeGreaterThan(50);
  }, 120_000);

  it(`proposes ${THROUGH_ENGINE} calls to the whole engine, and nothing forbidden happens`, async () => {
    const tally = await fuzzThroughEngine(1, THROUGH_ENGINE);
    expect(tally.forbidden).toEqual([]);
    expect(tally.proposals).toBeGreaterThanOrEqual(THROUGH_ENGINE);
    expect(tally.effects.refund).toBeGreaterThan(25);
    expect(tally.effects.cancel).toBeGreaterThan(5);
    expect(tally.effects.email).toBeGreaterThan(50);
  }, 120_000);
});
