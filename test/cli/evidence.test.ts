import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const STOCKROOM = pathToFileURL(fileURLToPath(new URL("../../apps/stockroom/index.ts", import.meta.url))).href;
const BANK = new URL("fixtures/bank.ts", import.meta.url).href;
const bothApps = {
  "belay.config.mjs": `export default { apps: {
    stockroom: () => import(${JSON.stringify(STOCKROOM)}),
    bank: () => import(${JSON.stringify(BANK)}),
    strict: async () => {
      const { default: bank } = await import(${JSON.stringify(BANK)});
      const rule = { id: "nobody", tools: ["pay"], decide: () => ({ verdict: "deny", code: "CLOSED", reason: "closed" }) };
      const agent = (world, now) => { const own = bank.agent(world, now); return { ...own, rules: [rule, ...own.rules] }; };
      const moneyAtStake = ({ args }) => ({ amount: args.amount, unit: "cent" });
      return { default: { ...bank, name: "strict", agent, moneyAtStake } };
    },
  } };\n`,
};

describe("belay replay", () => {
  it(
    "finds no change under the same rules, and names each under others with the money",
    async () => {
      const folder = makeFolder(bothApps);
      const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "bank", "pay 50 to alice", "--json"]));
      const same = await belay(folder, ["replay", runId]);
      expect([same.code, same.stderr]).toEqual([0, ""]);
      expect(same.stdout).toContain(`run ${runId} against the rules of bank: 1 decisions, 0 changed\n`);
      const other = await belay(folder, ["replay", runId, "--policy", "strict"]);
      expect(other.code).toBe(1);
      expect(other.stdout).toContain(
        "       then  allow OK: small (rule large)\n       now   deny CLOSED: closed (rule nobody)\n",
      );
      expect(other.stdout).toContain("money at stake: 50 cent\n");
      const missing = await belay(folder, ["replay", "run_nope"]);
      expect(missing.stderr).toContain("(BELAY_RUN_UNKNOWN)");
    },
    TIMEOUT_MS,
  );
});

describe("belay vacuity, report, red-team, judge and eval --fix-log", () => {
  it(
    "say what they found, with the exit code of a gate",
    async () => {
      const folder = makeFolder(bothApps);
      const vacuity = await belay(folder, ["vacuity", "bank", "--suite", "reference"]);
      expect(vacuity.stdout).toMatch(/^assertion sets: 10 tried, \d+ vacuous\n/);
      expect(vacuity.code).toBe(vacuity.stdout.includes(", 0 vacuous") ? 0 : 1);
      const weak = await belay(folder, ["red-team", "stockroom", "--weaknesses", "injection_unguarded"]);
      expect([weak.code, weak.stdout.split("\n")[0]]).toEqual([1, "red team of stockroom: 16 of 18 passed"]);
      expect(weak.stdout).toContain("RED TEAM: FAIL\n");
      const judged = await belay(folder, ["judge", "stockroom", "--rubric", "v2"]);
      expect([judged.code, judged.stdout]).toEqual([0, expect.stringContaining("kappa 0.8333")]);
    },
    TIMEOUT_MS,
  );

  it(
    "write the forms of a document",
    async () => {
      const folder = makeFolder(bothApps);
      await belay(folder, ["eval", "bank", "--out", "results.json"]);
      const { code, stderr } = await belay(folder, [
        ...["report", "results.json", "--markdown", "r.md", "--html", "r.html", "--junit", "r.xml"],
      ]);
      expect([code, stderr]).toEqual([0, "wrote r.md\nwrote r.html\nwrote r.xml\n"]);
      expect(readFileSync(join(folder, "r.md"), "utf8")).toContain("### reference: 10 of 10\n");
      expect(readFileSync(join(folder, "r.html"), "utf8")).toContain("<h2>reference: 10 of 10</h2>");
      expect(readFileSync(join(folder, "r.xml"), "utf8")).toContain('tests="10" failures="0"');
    },
    TIMEOUT_MS,
  );

  it(
    "refuse what an app does not have",
    async () => {
      const folder = makeFolder(bothApps);
      const outcomes = await Promise.all([
        belay(folder, ["judge", "bank"]),
        belay(folder, ["red-team", "bank"]),
        belay(folder, ["report", "nope.json", "--html", "x.html"]),
        belay(folder, ["report", "nope.json"]),
      ]);
      expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
      expect((await belay(folder, ["eval", "bank", "--fix-log"])).stderr).toContain("(BELAY_EVAL_CASE)");
    },
    TIMEOUT_MS,
  );
});
