import { describe, expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;

describe("belay eval", () => {
  it(
    "prints the report and exits with the gate",
    async () => {
      const folder = makeFolder();
      const passed = await belay(folder, ["eval", "bank"]);
      expect([passed.code, passed.stderr]).toEqual([
        0,
        expect.stringMatching(/^wrote \.belay\/results\/\S+-bank-reference\.\{json,md,html,xml\}\n$/),
      ]);
      expect(passed.stdout).toMatch(
        /^scenarios: 10, task success 10 of 10 [\s\S]*\nGATE: PASS\ndecision codes: 6 of 6 match\n$/,
      );
      const all = await belay(folder, ["eval", "bank", "--suite", "all", "--json", "--parallel", "2"]);
      expect(all.code).toBe(1);
      expect(
        jsonOf<{ suite: string; gate: { passed: boolean } }[]>(all).map(({ suite, gate }) => [suite, gate.passed]),
      ).toEqual([
        ["reference", true],
        ["broken", false],
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    "refuses what is not there",
    async () => {
      const folder = makeFolder();
      const [suite, evalCase, parallel] = await Promise.all([
        belay(folder, ["eval", "bank", "--suite", "nope"]),
        belay(folder, ["eval", "bank", "--case", "nope"]),
        belay(folder, ["eval", "bank", "--parallel", "0"]),
      ]);
      expect([suite.code, evalCase.code, parallel.code]).toEqual([2, 2, 2]);
      expect(suite.stderr).toContain("(BELAY_EVAL_SUITE_UNKNOWN)");
      expect(evalCase.stderr).toContain("(BELAY_EVAL_CASE)");
    },
    TIMEOUT_MS,
  );
});

describe("an unexpected error", () => {
  const config = `export default { apps: { odd: () => Promise.resolve({ default: {
    name: "odd", openWorld: () => { throw new TypeError("hunter2"); }, agent: () => 0, offlineModel: () => 0 } }) } };\n`;

  it(
    "shows neither its text nor a stack, unless somebody debugs",
    async () => {
      const folder = makeFolder({ "belay.config.mjs": config });
      const quiet = await belay(folder, ["run", "odd", "hi"]);
      expect(quiet.code).toBe(3);
      expect(quiet.stderr).toMatch(/^belay: An unexpected TypeError [^\n]*\(BELAY_INTERNAL\)\n$/);
      const debugging = await belay(folder, ["run", "odd", "hi"], { BELAY_DEBUG: "1" });
      expect(debugging.stderr).toContain("TypeError: hunter2");
    },
    TIMEOUT_MS,
  );
});
