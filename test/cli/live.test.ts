import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import { stockroomPlanner } from "../../apps/stockroom/planner.ts";
import { liveApp } from "../../src/cli/live.ts";
import type { AnyApp } from "../../src/config.ts";
import { openSuite, runSuite } from "../../src/evals/index.ts";
import { belay, makeFolder } from "./belay.ts";
import bank from "./fixtures/bank.ts";

describe("liveApp", () => {
  it("asks the real model alone, also where a case has replies of its own", async () => {
    const asked: string[] = [];
    const planner = stockroomPlanner();
    const client: typeof planner = {
      id: "real-model",
      generate: (request, options) => {
        asked.push(request.system);
        return planner.generate(request, options);
      },
    };
    const app: AnyApp = await liveApp(createStockroomApp(), { client, prices: {} });
    const suite = await openSuite(app, "reference");
    expect(suite.cases).toHaveLength(50);
    expect(suite.cases.filter((each) => each.script !== undefined || each.mockScript !== undefined)).toEqual([]);
    const { cases } = await runSuite(app, "reference", { only: ["G007", "G046"] });
    expect(asked.length).toBe(cases.reduce((sum, { modelSteps }) => sum + modelSteps, 0));
    // Its price is unknown, which is never zero.
    expect(cases.map(({ costNanoUsd }) => costNanoUsd)).toEqual([undefined, undefined]);
  });

  it("refuses an app whose cases are all scripted", async () => {
    await expect(liveApp(bank, { client: stockroomPlanner(), prices: {} })).rejects.toMatchObject({
      code: "BELAY_USAGE",
    });
  });
});

describe("belay live", () => {
  it("needs a model, and leave to reach one", { timeout: 60_000 }, async () => {
    const folder = makeFolder();
    const without = await belay(folder, ["live", "bank"]);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("--model")]);
    const refused = await belay(folder, ["live", "bank", "--model", "openai:gpt-x"], { OPENAI_API_KEY: "k" });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain("(BELAY_NETWORK_REFUSED)");
  });
});
