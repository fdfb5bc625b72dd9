import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../../src/config.ts";
import { fixLogSvg, formatFixLog, runFixLog } from "../../../src/evals/fix-log/index.ts";
import bank from "../../cli/fixtures/bank.ts";

const app: AnyApp = createStockroomApp();
const built: string[] = [];
const log = await runFixLog(app, {
  onProgress: (done, total, weaknesses) => built.push(`${done}/${total} ${weaknesses.join(",")}`),
});

describe("runFixLog on the stockroom", () => {
  it("gives the published five rows of rates", () => {
    const rows = log.rows.map(({ fixed, weaknesses, values }) => [
      fixed,
      weaknesses.length,
      values.tool_selection_accuracy,
      values.answer_correctness,
      values.termination_match_rate,
      values.must_not_call_ok_rate,
    ]);
    expect(rows).toEqual([
      [null, 4, 0.56, 0.62, 0.94, 0.94],
      ["ambiguous_tool_desc", 3, 0.88, 0.86, 0.92, 0.94],
      ["oversized_payload", 2, 0.9, 0.9, 0.96, 0.94],
      ["naive_retry", 1, 0.94, 0.94, 1, 0.94],
      ["injection_unguarded", 0, 1, 1, 1, 1],
    ]);
  });

  it("has fewer input tokens with every fix, as the source has", () => {
    const tokens = log.rows.map(({ values }) => values.mean_input_tokens);
    expect(tokens).toEqual(tokens.toSorted((one, other) => other - one));
    expect(new Set(tokens).size).toBe(5);
  });

  it("runs each of the eight builds once", () => {
    expect(log.builds).toBe(8);
    expect(built).toHaveLength(8);
    expect(built.at(-1)).toBe("8/8 naive_retry");
    expect(log.alone.map(({ weaknesses }) => weaknesses)).toEqual(app.weaknessNames?.map((name) => [name]));
    expect(log.fixedBuild.weaknesses).toEqual([]);
    expect(log.alone.at(-1)).toEqual({ weaknesses: log.rows[3]?.weaknesses, values: log.rows[3]?.values });
  });

  it("is written as a table and as bars", () => {
    const text = formatFixLog(log);
    const lines = text.split("\n");
    expect(lines[0]).toMatch(
      /^fixed so far +on +tool_selection_accuracy {2}answer_correctness {2}termination_match_rate {2}must_not_call_ok_rate {2}mean_input_tokens$/,
    );
    expect(lines[1]).toMatch(/^\(none\) +all 4 +0\.56 +0\.62 +0\.94 +0\.94 +\d+\.\d\d$/);
    expect(lines[5]).toMatch(/^injection_unguarded +none +1\.00 +1\.00 +1\.00 +1\.00 +\d+\.\d\d$/);
    expect(text).toContain("tool_selection_accuracy  ###############......... 0.64 (fixed 1.00)\n");
    expect(text).toMatch(/mean_input_tokens +#+\.* \d+\.\d\d \(fixed \d+\.\d\d, \+\d+\.\d %\)\n/);
    expect(text).toContain("8 distinct suite configurations computed\n");
  });

  it("is drawn with a bar and a line for each metric of each weakness", () => {
    const svg = fixLogSvg(log);
    expect(svg.match(/<g>/g)).toHaveLength(4);
    expect(svg.match(/<line /g)).toHaveLength(20);
    const widths = [...svg.matchAll(/<rect x="190" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths).toHaveLength(20);
    // Of ambiguous_tool_desc alone 64 % of the cases choose the right tools.
    expect(widths[0]).toBeCloseTo(0.64 * 320, 1);
    expect(Math.max(...widths)).toBe(320);
  });

  it("lets no name break out of the drawing", () => {
    const svg = fixLogSvg({ ...log, app: "<script>alert(1)</script>" });
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;");
  });
});

describe("runFixLog", () => {
  it("refuses an app without weaknesses, and a suite that has nothing to measure", async () => {
    await expect(runFixLog(bank)).rejects.toMatchObject({ code: "BELAY_EVAL_CASE" });
    const odd: AnyApp = { ...bank, weaknessNames: ["slow"], configure: () => bank };
    await expect(runFixLog(odd)).rejects.toThrow("names its expected tools");
    await expect(runFixLog(app, { suite: "nope" })).rejects.toMatchObject({ code: "BELAY_EVAL_SUITE_UNKNOWN" });
  });
});
