import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { problemsOf } from "./engine/check.ts";
import { plans } from "./engine/plan.ts";
import { play } from "./engine/play.ts";

const RUNS = 300;
/** The same plays each time; `npm run fuzz` draws others and prints its seed. */
const SEED = 20_260_731;

describe("random models, tools, rules, people, clocks and crashes", () => {
  it(`keep every promise in ${RUNS} plays`, async () => {
    let effects = 0;
    let crashes = 0;
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const played = await play(plan);
        effects += played.far.happened.length;
        crashes += played.crashes.length;
        expect(await problemsOf(played)).toEqual([]);
        await played.store.close();
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(effects).toBeGreaterThan(RUNS / 3);
    expect(crashes).toBeGreaterThan(RUNS / 3);
  }, 120_000);
});
