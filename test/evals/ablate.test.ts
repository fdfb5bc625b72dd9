import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../src/config.ts";
import {
  ablate,
  controlsOfApp,
  formatKillMatrix,
  isWholeMatrix,
  type KillMatrix,
  openSuite,
} from "../../src/evals/index.ts";
import bank from "../cli/fixtures/bank.ts";

const TIMEOUT_MS = 120_000;
const app: AnyApp = bank;

describe("ablate", () => {
  it("names the cases that fail without each control, and those that fail with all of them", async () => {
    const suite = await openSuite(app, "reference");
    const only = ["rule:named_account", "guard:approval_gate", "filter:size_cap"];
    const progress: string[] = [];
    const matrix = await ablate(app, [suite], {
      only,
      onProgress: (done, total, what) => progress.push(`${done}/${total} ${what}`),
    });
    const killedBy = Object.fromEntries(matrix.rows.map((row) => [row.control, row.killedBy]));
    expect(killedBy["rule:named_account"]).toEqual(["reference I1"]);
    expect(killedBy["guard:approval_gate"]).toContain("reference A2");
    expect(killedBy["filter:size_cap"]).toEqual([]);
    expect(matrix.failing).toEqual([]);
    expect(isWholeMatrix(matrix)).toBe(false);
    expect(progress.map((line) => line.split(" ")[0])).toEqual(["1/4", "2/4", "3/4", "4/4"]);
    const text = formatKillMatrix(matrix);
    expect(text).toContain("filter:size_cap          0  NONE\n");
    expect(text).toContain(
      "controls: 3, cases: 10, controls that no case needs: 1\n  - no case fails without filter:size_cap\n",
    );
  });

  it("proves nothing when a case fails with every control in place", async () => {
    const suites = [await openSuite(app, "broken")];
    const matrix = await ablate(app, suites, { only: ["rule:named_account"] });
    expect(matrix.failing).toEqual(["broken Z1"]);
    expect(matrix.rows).toEqual([{ control: "rule:named_account", killedBy: [], isByProbeAlone: false }]);
    expect(isWholeMatrix(matrix)).toBe(false);
    expect(formatKillMatrix(matrix)).toMatch(/^1 case\(s\) fail with every control in place: broken Z1\n/);
  });

  it("refuses a control that is not there", async () => {
    const suites = [await openSuite(app, "reference")];
    await expect(ablate(app, suites, { only: ["rule:nope"] })).rejects.toMatchObject({ code: "BELAY_ABLATION" });
  });

  it("marks what needs no case, and what only a rule of the suite shows", () => {
    const row = { killedBy: [], isByProbeAlone: false };
    const matrix: KillMatrix = {
      app: "x",
      cases: ["a 1"],
      failing: [],
      rows: [
        { ...row, control: "guard:a", idle: "nothing to do" },
        { control: "guard:b", killedBy: ["a 1"], isByProbeAlone: true },
      ],
      pairs: [{ controls: ["guard:a", "guard:b"], killedBy: ["a 1"] }],
    };
    expect(isWholeMatrix(matrix)).toBe(true);
    expect(formatKillMatrix(matrix)).toBe(
      [
        "control  kills  cases that fail without it",
        "guard:a      0  not in this agent: nothing to do",
        "guard:b      1  a 1 (with a rule of the suite)",
        "pairs that stand in for each other: 1",
        "  guard:a + guard:b: a 1",
        "controls: 2, cases: 1, controls that no case needs: 0",
        "",
      ].join("\n"),
    );
  });

  it(
    "shows two controls of the shop that stand in for each other: neither alone is needed, both are",
    async () => {
      const guards = await openSuite(shop, "guards");
      // A wrong amount is refused by its schema, and without that by the rule about what is left.
      const suites = [{ ...guards, cases: guards.cases.filter(({ id }) => id === "W02" || id === "R13") }];
      const only = ["rule:refund_window"];
      const { rows, pairs = [] } = await ablate(shop, suites, { only, withPairs: true });
      expect(rows.map(({ control, killedBy }) => [control, killedBy])).toEqual([
        ["rule:refund_window", ["guards R13"]],
      ]);
      expect(
        pairs.every(({ controls, killedBy }) => controls.includes("rule:refund_window") && killedBy.length > 0),
      ).toBe(true);
    },
    TIMEOUT_MS,
  );
});

describe("controls that cannot act", () => {
  it("are only those that the agent's own declaration rules out", () => {
    const idle = (of: AnyApp) =>
      controlsOfApp(of).flatMap((control) => (control.idle === undefined ? [] : [control.id]));
    expect(idle(shop)).toEqual(["limit:rejections"]);
    expect(idle(createStockroomApp())).toEqual(["guard:transaction_recheck"]);
  });
});
