import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../../src/config.ts";
import {
  createDocument,
  type DocumentVerdict,
  type EvalDocument,
  openSuite,
  runSuite,
} from "../../../src/evals/index.ts";
import { escapeMarkdown } from "../../../src/evals/reports/escape-markdown.ts";
import { escapeMarkup } from "../../../src/evals/reports/escape-markup.ts";
import {
  htmlReport,
  junitReport,
  MARKDOWN_MARK,
  markdownReport,
  readVerdict,
} from "../../../src/evals/reports/index.ts";

const app: AnyApp = createStockroomApp();
const suite = await openSuite(app, "reference");
const document = createDocument({
  app,
  suites: [suite],
  repeats: [[await runSuite(app, "reference")]],
  belayVersion: "0.1.0",
  at: Date.UTC(2026, 0, 2),
});

const HOSTILE =
  '</script><img src=x onerror=alert(1)> | @octocat [click](javascript:alert(1)) www.evil.test\n# "boo" & `x`';

/** The document with one case that failed for a reason that somebody hostile wrote. */
const broken: EvalDocument = {
  ...document,
  cases: document.cases.map((each) =>
    each.id === "G007"
      ? {
          ...each,
          repeats: each.repeats.map((repeat) => ({ ...repeat, passed: false, holds: false, reasons: [HOSTILE] })),
        }
      : each,
  ),
};
const verdict: DocumentVerdict = {
  passed: false,
  failures: [{ stage: "category", problem: `stock_lookup fell: ${HOSTILE}` }],
  notes: ["paired with the baseline: 1 lost, 0 won"],
};

/** Checks that every tag is closed, in order; throws for text in which markup hides. */
function tagsOf(markup: string, isVoid: (name: string) => boolean = () => false): readonly string[] {
  const open: string[] = [];
  const names: string[] = [];
  for (const [, slash, name = "", rest = ""] of markup.matchAll(
    /<(\/?)([a-zA-Z]+)((?:\s+[\w:-]+="[^"<]*")*\s*\/?)>/g,
  )) {
    if (slash === "/") {
      expect(open.pop()).toBe(name);
    } else {
      names.push(name);
      if (!rest.endsWith("/") && !isVoid(name)) {
        open.push(name);
      }
    }
  }
  expect(open).toEqual([]);
  return names;
}

describe("markdownReport", () => {
  it("says how many held, by class, with intervals and the bound beside zero", () => {
    const text = markdownReport(document);
    expect(text.startsWith(`${MARKDOWN_MARK}\n## Evaluation of stockroom\n`)).toBe(true);
    expect(text).toContain("### reference: 50 of 50\n");
    expect(text).toContain("No failure in 50 is compatible with up to 5.8 % (exact, one-sided 95 %).");
    expect(text).toContain("| stock&#95;lookup | 7/7 | 0.646 to 1.000 |\n");
    expect(text).toContain("| invalid&#95;call&#95;rate | 0.0400 |\n");
    expect(text).not.toContain("| failed |");
  });

  it("tells the gate and the failed cases, and lets no text become markup", () => {
    const text = markdownReport(broken, { verdict });
    expect(text).toContain("## Evaluation of stockroom: gate FAILED\n");
    expect(text).toContain("### reference: 49 of 50\n");
    const [row = ""] = text.split("\n").filter((line) => line.startsWith("| G007"));
    expect(row.match(/\|/g)).toHaveLength(5);
    expect(text).not.toMatch(/<img|<\/script|@octocat|\]\(|www\.evil|`x`/);
    expect(text).not.toContain("No failure in");
  });

  it("says what was weakened and left out", () => {
    const text = markdownReport({ ...document, weaknesses: ["naive_retry"], without: ["rule:a"] });
    expect(text).toContain("**Weakened on purpose:** naive&#95;retry\n");
    expect(text).toContain("**Without the controls:** rule&#58;a\n");
  });
});

describe("htmlReport", () => {
  it("is one page with charts that loads nothing and runs nothing", () => {
    const html = htmlReport(broken, { verdict });
    const names = tagsOf(html.replace(/<!doctype html>/, "").replace(/<meta [^>]*>/g, ""));
    expect(names.filter((name) => name === "svg")).toHaveLength(2);
    expect(names).not.toContain("script");
    expect(names).not.toContain("img");
    expect(html).toContain("default-src 'none'");
    expect(html).not.toMatch(/(?:src|href)="/);
    expect(html).toContain("Gate failed");
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
    // One bar for each of the twelve classes, and one for each of the fifty cases.
    expect(html.match(/fill="#2f6f9f"/g)).toHaveLength(12);
    expect(html.match(/fill="#7a5195"/g)).toHaveLength(50);
  });

  it("draws the share and its interval to scale", () => {
    const html = htmlReport(broken);
    const [, width, low] =
      /stock_lookup<\/text><rect x="190" y="\d+" width="([\d.]+)" [^>]*><line x1="([\d.]+)"/.exec(html) ?? [];
    expect(Number(width)).toBeCloseTo((6 / 7) * 420, 0);
    expect(Number(low)).toBeCloseTo(190 + 0.4869 * 420, 0);
  });
});

describe("junitReport", () => {
  it("has a test for each case, and a failure with its reasons", () => {
    const xml = junitReport(broken, { verdict });
    tagsOf(xml.replace(/<\?xml[^>]*\?>/, ""));
    expect(xml).toContain('<testsuites name="stockroom" tests="51" failures="2" errors="0" skipped="0">');
    expect(xml).toContain(
      '<testcase classname="stockroom.reference.stock_lookup" name="G007" time="0"><failure message="&lt;/script',
    );
    expect(xml).toContain('name="category 1"');
    expect(junitReport(document, { verdict: { passed: true, failures: [], notes: [] } })).toContain(
      'tests="51" failures="0"',
    );
  });

  it("has a test for each time that a case ran, and one that fails for a case that did not", () => {
    const cases = document.cases.slice(0, 2).map((each, at) => ({
      ...each,
      repeats: at === 0 ? [...each.repeats, ...each.repeats] : [],
    }));
    const xml = junitReport({ ...document, cases });
    expect(xml).toContain('name="G001 (run 2)"');
    expect(xml).toContain("it did not run");
    expect(xml).toContain('tests="3" failures="1"');
    expect(markdownReport({ ...document, cases })).toContain("| G002 | product&#95;search | 0/0 | it did not run |");
  });
});

describe("readVerdict", () => {
  it("reads what the gate prints, and refuses anything else", () => {
    expect(readVerdict(JSON.stringify(verdict), "gate.json")).toEqual(verdict);
    for (const text of ["", "{}", '{"passed":"yes","failures":[],"notes":[]}']) {
      expect(() => readVerdict(text, "gate.json")).toThrow(expect.objectContaining({ code: "BELAY_EVAL_CASE" }));
    }
  });
});

describe("escapes", () => {
  it("leave nothing of a text that could be markup", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeMarkup(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
        expect(escapeMarkdown(text)).not.toMatch(/[<>|`*_[\]()\n\r@]|&(?!#\d+;)/);
      }),
    );
  });
});
