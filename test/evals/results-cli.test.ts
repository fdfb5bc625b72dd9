import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseDocument } from "../../src/evals/index.ts";
import { readResults } from "../../src/server/pages/evaluations/read-results.ts";
import { belay, makeFolder } from "../cli/belay.ts";

const TIMEOUT_MS = 120_000;
const CONFIG = ["--config", join(import.meta.dirname, "../../belay.config.ts")];
const STEM = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-/;

describe("what belay eval writes", { timeout: TIMEOUT_MS }, () => {
  it("lies where the console looks, in four forms of one stem, and only there", async () => {
    const folder = makeFolder();
    await belay(folder, ["eval", "bank"]);
    const results = join(folder, ".belay/results");
    const names = readdirSync(results).sort();
    const ends = names.map((name) => name.replace(STEM, ""));
    expect(ends).toEqual(["html", "json", "md", "xml"].map((end) => `bank-reference.${end}`));
    expect(new Set(names.map((name) => name.slice(0, 24))).size).toBe(1);
    expect(statSync(join(folder, ".belay")).mode & 0o777).toBe(0o700);
    const read = (end: string) => readFileSync(join(results, names.find((name) => name.endsWith(end)) ?? ""), "utf8");
    expect(parseDocument(read(".json"), "x").cases).toHaveLength(10);
    expect(read(".md")).toContain("### reference: 10 of 10\n");
    expect(read(".html")).toMatch(/<svg [\s\S]*<svg /);
    expect(read(".html")).not.toMatch(/<script|src=|href=/);
    expect(read(".xml")).toContain('tests="10" failures="0"');
    const shown = await readResults(results);
    expect(shown.unreadable).toEqual([]);
    expect(shown.results).toMatchObject([{ app: "bank", suite: "reference", passed: 10, total: 10 }]);
  });

  it("is nothing for one case, and goes where it is told to", async () => {
    const folder = makeFolder();
    await belay(folder, ["eval", "bank", "--case", "H1"]);
    expect(existsSync(join(folder, ".belay"))).toBe(false);
    const told = await belay(folder, ["eval", "bank", "--out", "r.json", "--html", "pages/p.html", "--junit", "j.xml"]);
    expect(told.stderr).toBe("wrote r.json\nwrote pages/p.html\nwrote j.xml\n");
    expect(existsSync(join(folder, ".belay"))).toBe(false);
    const into = await belay(folder, ["eval", "bank", "--suite", "all", "--out", "mine"]);
    // A suite that fails is written as well: a trend without its bad days is none.
    expect([into.code, readdirSync(join(folder, "mine")).length]).toEqual([1, 4]);
    expect(readdirSync(join(folder, "mine"))[0]?.replace(STEM, "")).toBe("bank-reference+broken.html");
    writeFileSync(join(folder, "file"), "");
    const blocked = await belay(folder, ["eval", "bank", "--out", "file/below"]);
    expect([blocked.code, blocked.stderr]).toEqual([2, expect.stringContaining("cannot be written: ENOTDIR")]);
  });

  it("has the verdict in it when the gate wrote it, and the gate keeps nothing by itself", async () => {
    const folder = makeFolder();
    const gate = await belay(folder, ["gate", "bank", "--out", "g.json", "--markdown", "g.md", "--junit", "g.xml"]);
    expect([gate.code, gate.stderr]).toEqual([1, "wrote g.json\nwrote g.md\nwrote g.xml\n"]);
    const [markdown, junit] = ["g.md", "g.xml"].map((name) => readFileSync(join(folder, name), "utf8"));
    expect(markdown).toContain("## Evaluation of bank: gate FAILED\n\n- **comparability**: there is no baseline");
    expect(junit).toContain('<testsuite name="bank gate"');
    await belay(folder, ["gate", "bank"]);
    expect(existsSync(join(folder, ".belay"))).toBe(false);
  });

  it("has a matrix beside it once belay ablate ran, and none of a part", async () => {
    const folder = makeFolder();
    const results = join(folder, ".belay/results");
    await belay(folder, ["ablate", "bank", "--control", "rule:named_account"]);
    expect(existsSync(results)).toBe(false);
    await belay(folder, ["ablate", "bank"]);
    expect(readdirSync(results).map((name) => name.replace(STEM, ""))).toEqual(["bank-ablation.json"]);
    const { matrices, unreadable } = await readResults(results);
    expect([matrices.length, matrices[0]?.app, unreadable]).toEqual([1, "bank", []]);
  });
});

describe("belay eval --fix-log", { timeout: TIMEOUT_MS }, () => {
  it("prints the five rows, draws on the terminal, and writes the chart", async () => {
    const folder = makeFolder();
    const { code, stdout, stderr } = await belay(folder, [
      "eval",
      "stockroom",
      "--fix-log",
      "--svg",
      "f.svg",
      ...CONFIG,
    ]);
    expect([code, stderr]).toEqual([0, "wrote f.svg\n"]);
    const rows = stdout.split("\n").slice(0, 6);
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual([
      ...["fixed so far", "(none)", "ambiguous_tool_desc", "oversized_payload", "naive_retry", "injection_unguarded"],
    ]);
    expect(rows[1]).toMatch(/ 0\.56 +0\.62 +0\.94 +0\.94 /);
    expect(stdout).toContain("tool_selection_accuracy  ###############......... 0.64 (fixed 1.00)\n");
    expect(readFileSync(join(folder, "f.svg"), "utf8")).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
  });

  it("refuses what its builds have no use for", async () => {
    const folder = makeFolder();
    const outcomes = await Promise.all([
      belay(folder, ["eval", "bank", "--fix-log", "--weaknesses", "x"]),
      belay(folder, ["eval", "stockroom", "--fix-log", "--repeats", "2", ...CONFIG]),
      belay(folder, ["eval", "bank", "--svg", "x.svg"]),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2]);
    expect(outcomes[1]?.stderr).toContain("Leave out --repeats");
  });
});

describe("recorded replies", { timeout: TIMEOUT_MS }, () => {
  it("answer a strict replay alone, which fails for what was not recorded", async () => {
    const folder = makeFolder();
    const stockroom = (...args: readonly string[]) =>
      belay(folder, ["eval", "stockroom", "--out", "r.json", ...args, ...CONFIG]);
    const recorded = await stockroom("--record", "replies");
    expect(recorded.code).toBe(0);
    const files = readdirSync(join(folder, "replies"));
    expect(files.length).toBeGreaterThan(50);
    expect(files.every((name) => /^[0-9a-f]{64}\.json$/.test(name))).toBe(true);
    const documentOf = () => ({ ...JSON.parse(readFileSync(join(folder, "r.json"), "utf8")), date: "" });
    const before = documentOf();
    const replayed = await stockroom("--replay", "replies", "--strict");
    expect([replayed.code, replayed.stdout]).toEqual([0, recorded.stdout]);
    expect(documentOf()).toEqual(before);

    rmSync(join(folder, "replies", files[0] ?? ""));
    const strict = await stockroom("--replay", "replies", "--strict");
    expect([strict.code, strict.stdout]).toEqual([1, expect.stringContaining("GATE: FAIL")]);
    expect(strict.stderr).toContain(`has no reply of`);
    expect(strict.stderr).toContain(files[0]?.slice(0, 64));
    expect(existsSync(join(folder, "replies", files[0] ?? ""))).toBe(false);

    const loose = await stockroom("--replay", "replies");
    expect([loose.code, loose.stderr]).toEqual([0, "wrote r.json\n"]);
    expect(existsSync(join(folder, "replies", files[0] ?? ""))).toBe(true);
  });

  it("need a folder that holds some, and no two ways at once", async () => {
    const folder = makeFolder();
    const outcomes = await Promise.all([
      belay(folder, ["eval", "bank", "--replay", "none", "--strict"]),
      belay(folder, ["eval", "bank", "--record", "a", "--replay", "b"]),
      belay(folder, ["eval", "bank", "--strict"]),
      belay(folder, ["live", "bank", "--strict"]),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
    expect(outcomes[0]?.stderr).toContain("(BELAY_RECORDING_MISSING)");
  });

  it("stand in for a live model, which is then neither named nor asked", async () => {
    const folder = makeFolder();
    await belay(folder, ["eval", "stockroom", "--record", "replies", "--out", "r.json", ...CONFIG]);
    const live = await belay(folder, [
      ...["live", "stockroom", "--replay", "replies", "--strict", "--judge", "v3", "--out", "l.json"],
      ...["--baseline", "r.json", ...CONFIG],
    ]);
    // Cases that are scripted offline were never recorded, and say so instead of asking anybody.
    expect(live.stderr).toContain("replay: ");
    expect(live.stdout).toMatch(/reference judged by FakeJudge\/v3: \d+ of 50 answers pass/);
    expect(live.stdout).toContain("not gated in live mode: not comparable: mode is live");
    const document = parseDocument(readFileSync(join(folder, "l.json"), "utf8"), "l");
    expect([document.subject.mode, document.subject.judge]).toEqual(["live", "FakeJudge/v3"]);
  });
});
