import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;

describe("belay gate", () => {
  it(
    "writes a baseline, passes against it, and says in order why it fails",
    async () => {
      const folder = makeFolder();
      const without = await belay(folder, ["gate", "bank"]);
      expect([without.code, without.stderr]).toEqual([1, ""]);
      expect(without.stdout).toBe(
        "GATE: FAIL\n  - comparability: there is no baseline; write one with --write-baseline and commit it\n",
      );
      const written = await belay(folder, ["gate", "bank", "--write-baseline", "evals/b.json"]);
      expect([written.code, written.stdout]).toEqual([0, ""]);
      const passed = await belay(folder, ["gate", "bank", "--baseline", "evals/b.json"]);
      expect([passed.code, passed.stdout.split("\n").at(-2)]).toEqual([0, "GATE: PASS"]);

      const file = join(folder, "evals/b.json");
      const baseline = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify({ ...baseline, subject: { ...baseline.subject, agentModel: "another" } }));
      const other = await belay(folder, ["gate", "bank", "--baseline", "evals/b.json", "--json"]);
      expect([other.code, jsonOf<{ failures: unknown }>(other).failures]).toEqual([
        1,
        [
          {
            stage: "comparability",
            problem: "not comparable: agentModel is bank-planner, and the baseline has another",
          },
        ],
      ]);
      const missing = await belay(folder, ["gate", "bank", "--baseline", "nope.json"]);
      expect(missing.code).toBe(1);
      expect(missing.stdout).toMatch(/^GATE: FAIL\n {2}- evidence: the baseline \S+nope\.json is not there\n/);
      writeFileSync(file, "{}");
      const broken = await belay(folder, ["gate", "bank", "--baseline", "evals/b.json"]);
      expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining("(BELAY_EVAL_CASE)")]);
    },
    TIMEOUT_MS,
  );
});

describe("belay ablate", () => {
  it(
    "prints the kill matrix and fails for a control that no case needs",
    async () => {
      const folder = makeFolder();
      const args = ["ablate", "bank", "--control", "rule:named_account, filter:size_cap"];
      const [text, json] = await Promise.all([belay(folder, args), belay(folder, [...args, "--json"])]);
      expect([text.code, json.code, text.stderr]).toEqual([1, 1, ""]);
      expect(text.stdout).toContain("rule:named_account      1  reference I1\n");
      expect(text.stdout).toContain("  - no case fails without filter:size_cap\n");
      const { rows } = jsonOf<{ rows: { control: string; killedBy: string[] }[] }>(json);
      expect(rows.map(({ control, killedBy }) => [control, killedBy])).toEqual([
        ["rule:named_account", ["reference I1"]],
        ["filter:size_cap", []],
      ]);
      const unknown = await belay(folder, ["ablate", "bank", "--control", "rule:nope"]);
      expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("(BELAY_ABLATION)")]);
    },
    TIMEOUT_MS,
  );
});

describe("belay eval", () => {
  it(
    "writes a document and prints what the numbers are worth",
    async () => {
      const folder = makeFolder();
      const { code, stdout } = await belay(folder, ["eval", "bank", "--repeats", "2", "--out", "r.json"]);
      expect(code).toBe(0);
      expect(stdout).toContain("cases that hold: 10 of 10, Wilson 95% 0.722-1.000, Clopper-Pearson 95% 0.692-1.000\n");
      expect(stdout).toContain(
        "cases with a forbidden action: 0 of 10 is compatible with up to 25.9 % (Clopper-Pearson, exact, one-sided 95%)\n",
      );
      expect(stdout).toContain("pass^2: 1.000 (a case holds in 2 of 2 runs)\n");
      expect(stdout).toContain("warning: all 2 runs are equal, so their spread says nothing about other runs\n");
      const document = JSON.parse(readFileSync(join(folder, "r.json"), "utf8"));
      expect(document).toMatchObject({
        schema: "belay.evals/1",
        subject: { app: "bank", mode: "deterministic", agentModel: "bank-planner", judge: null, repeats: 2 },
        weaknesses: [],
        without: [],
        madeWith: { node: process.version },
      });
      expect(document.cases).toHaveLength(10);
      expect(document.cases[0].repeats).toHaveLength(2);
      const coverage = await belay(folder, ["eval", "bank", "--coverage"]);
      expect([coverage.code, coverage.stderr]).toEqual([2, expect.stringContaining('Give it "evals.coverage"')]);
    },
    TIMEOUT_MS,
  );
});
