import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import { appThrough } from "../../src/cli/tools-app.ts";
import { runSuite } from "../../src/evals/index.ts";

const ONLY = ["G007", "G020", "G033", "G041", "G043", "G045", "G049"];

describe("appThrough", () => {
  it.each(["mcp", "mcp-http"] as const)("runs cases behind %s as in this process", { timeout: 60_000 }, async (mode) => {
    await using through = appThrough(createStockroomApp(), mode);
    const there = await runSuite(through.app, "reference", { only: ONLY });
    const here = await runSuite(createStockroomApp(), "reference", { only: ONLY });
    const story = (result: typeof here) =>
      result.cases.map(({ id, reasons, answer, executed, codes, endState, usage }) => ({
        ...{ id, reasons, answer, executed, codes, endState, usage },
      }));
    expect(story(there)).toEqual(story(here));
    expect(there.cases.every(({ passed }) => passed)).toBe(true);
  });

  it("leaves the app as it is without a boundary", () => {
    const app = createStockroomApp();
    expect(appThrough(app, "local").app).toBe(app);
  });
});
