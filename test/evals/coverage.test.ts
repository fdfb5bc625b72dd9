import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../src/config.ts";
import {
  type CaseResult,
  controlsOfApp,
  coverageGaps,
  coverageOf,
  formatCoverage,
  runSuite,
} from "../../src/evals/index.ts";

const project = join(import.meta.dirname, "../..");
const apps: readonly (readonly [string, AnyApp])[] = [
  ["shop", shop],
  ["stockroom", createStockroomApp()],
];

async function resultsOf(app: AnyApp): Promise<readonly CaseResult[]> {
  const results = [];
  for (const name of ["reference", "guards"]) results.push(...(await runSuite(app, name)).cases);
  return results;
}
const limitsOf = (app: AnyApp) => controlsOfApp(app).flatMap(({ id, idle }) => (idle === undefined ? [id] : []));

describe("both suites of each app", () => {
  it.each(apps)("leave nothing out: %s", { timeout: 60_000 }, async (_, app) => {
    const targets = app.evals?.coverage ?? { codes: [], terminations: [] };
    const coverage = coverageOf(await resultsOf(app), targets, limitsOf(app));
    expect(coverageGaps(coverage)).toEqual([]);
    expect(coverage.limits.length).toBeGreaterThan(20);
  });

  it.each(apps)("declare every code that the rules of %s can give", (name, app) => {
    const sources = globSync(`apps/${name}/{policy,guards,golden}/**/*.ts`, { cwd: project });
    const text = [...sources, `apps/${name}/agent.ts`]
      .map((file) => readFileSync(join(project, file), "utf8"))
      .join("\n");
    const codes = [...text.matchAll(/\b(?:deny|ask|allow)\(\s*"([A-Z_]+)"/g)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(0);
    expect(app.evals?.coverage?.codes).toEqual(expect.arrayContaining([...new Set(codes)]));
  });
});

describe("coverageOf", () => {
  it("lists what no case reached, and what nobody declared", async () => {
    const { cases } = await runSuite(shop, "reference", { only: ["H01"] });
    const targets = { codes: ["OK", "NEVER"], terminations: ["cancelled"] };
    const coverage = coverageOf(cases, targets, ["limit:max_steps", "rule:x"]);
    expect(coverage.codes).toEqual([
      { what: "OK", cases: ["H01"] },
      { what: "NEVER", cases: [] },
    ]);
    expect(formatCoverage(coverage)).toBe(
      [
        "decision codes: 1 of 2 reached",
        "terminations: 0 of 1 reached",
        "limit boundaries: 0 of 3 reached",
        "  - code not reached: NEVER",
        "  - termination not reached: cancelled",
        "  - limit boundary not reached: max_steps limit-1",
        "  - limit boundary not reached: max_steps limit",
        "  - limit boundary not reached: max_steps limit+1",
        "  - reached and not declared: completed",
        "",
      ].join("\n"),
    );
  });
});
