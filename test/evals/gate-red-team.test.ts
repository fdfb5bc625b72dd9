import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../src/config.ts";
import {
  createDocument,
  DEFAULT_THRESHOLDS,
  type EvalDocument,
  FULL_THRESHOLDS,
  fakeJudge,
  gateDocument,
  judgeSuite,
  openSuite,
  parseDocument,
  type RedTeam,
  redTeamIds,
  runRedTeam,
  runSuite,
} from "../../src/evals/index.ts";

const TIMEOUT_MS = 120_000;
const app: AnyApp = createStockroomApp();
const redTeam = app.redTeam as RedTeam;
const suite = await openSuite(app, "reference");
const results = [await runSuite(app, "reference")];
const attacked = await runRedTeam(app, redTeam);
const made = { app, suites: [suite], repeats: [results], belayVersion: "0.0.0", at: 0 };
const document = createDocument({ ...made, redTeam: attacked });
const ids = await redTeamIds(redTeam);
const thresholds = { ...FULL_THRESHOLDS, invariants: { redTeam: true as const } };
const judged = (each: EvalDocument, baseline: EvalDocument | null = document, of = thresholds) =>
  gateDocument(each, { thresholds: of, suites: [suite], baseline: baseline ?? undefined, redTeam: ids });

describe("the red team in the gate", () => {
  it("passes with 18 of 18, and is part of the whole gate and of that of an app that names none", () => {
    expect(document.redTeam?.map(({ passed }) => passed)).toEqual(Array.from({ length: 18 }, () => true));
    expect(ids).toHaveLength(18);
    expect(judged(document).failures).toEqual([]);
    expect([FULL_THRESHOLDS.invariants.redTeam, DEFAULT_THRESHOLDS.invariants.redTeam]).toEqual([true, true]);
  });

  it("is an invariant: one attack that goes through fails, in live mode too", () => {
    const [first, ...others] = document.redTeam ?? [];
    const lost = { ...document, redTeam: [{ ...first, passed: false }, ...others] } as EvalDocument;
    const failure = { stage: "invariants", problem: `red team: 1 of 18 case(s) fail: ${first?.id}` };
    expect(judged(lost).failures).toEqual([failure]);
    const live = { ...lost, subject: { ...lost.subject, mode: "live" } } as EvalDocument;
    expect(judged(live, null).failures).toEqual([failure]);
  });

  it("needs evidence of every configured case", () => {
    const { redTeam: _, ...without } = document;
    expect(judged(without).failures).toEqual([{ stage: "evidence", problem: "the red team did not run" }]);
    const partial = { ...document, redTeam: document.redTeam?.slice(2) ?? [] };
    expect(judged(partial).failures).toEqual([
      { stage: "evidence", problem: `2 case(s) of the red team did not run: ${ids.slice(0, 2).join(", ")}` },
    ]);
    // A gate that does not ask for it does not miss it.
    expect(judged(without, document, { ...FULL_THRESHOLDS, invariants: {} as never }).passed).toBe(true);
  });

  it("finds a weakness that lets attacks through", { timeout: TIMEOUT_MS }, async () => {
    const weak: AnyApp = createStockroomApp({ weaknesses: ["injection_unguarded"] });
    const lost = createDocument({ ...made, redTeam: await runRedTeam(weak, redTeam) });
    expect(judged(lost).failures).toEqual([
      { stage: "invariants", problem: expect.stringMatching(/^red team: 2 of 18 case\(s\) fail: RT/) },
    ]);
  });

  it("is read back, and not when it is something else", () => {
    const text = JSON.stringify(document);
    expect(parseDocument(text, "x").redTeam).toEqual(JSON.parse(text).redTeam);
    const broken = JSON.stringify({ ...document, redTeam: [{ id: "RT01" }] });
    expect(() => parseDocument(broken, "x")).toThrow("redTeam");
  });
});

describe("a live run", () => {
  const live = (of: EvalDocument): EvalDocument => ({ ...of, subject: { ...of.subject, mode: "live" } });

  it("tells its rate with an interval and the smallest change that it would show", () => {
    expect(judged(live(document), null)).toEqual({
      passed: true,
      failures: [],
      notes: [
        "reference: 50 of 50 cases hold, Wilson 95% 0.929-1.000; " +
          "a change of less than 5.6 points is not found (power 0.80)",
      ],
    });
  });

  it("pairs its cases with an earlier live run, and fails for no flip", () => {
    const [first, ...others] = document.cases;
    const flipped = { ...first, repeats: first?.repeats.map((each) => ({ ...each, holds: false })) ?? [] };
    const now = live({ ...document, cases: [flipped as EvalDocument["cases"][number], ...others] });
    const verdict = judged(now, live(document));
    expect(verdict.passed).toBe(true);
    expect(verdict.notes.at(-1)).toMatch(
      /^paired with the baseline: 1 lost, 0 won \(exact McNemar p = 1\.000\); a change/,
    );
  });

  it("says that it cannot be compared with an offline baseline, and compares nothing", () => {
    const verdict = judged(live(document), document);
    expect(verdict.passed).toBe(true);
    expect(verdict.notes[0]).toBe(
      "not gated in live mode: not comparable: mode is live, and the baseline has deterministic",
    );
    expect(verdict.notes.join("\n")).not.toContain("paired");
  });
});

describe("a judge", () => {
  const options = { signal: new AbortController().signal };

  it("is named in the document with the share of answers that it passed", async () => {
    const said = await judgeSuite(fakeJudge("v3"), suite, results, options);
    expect(said.grades).toHaveLength(50);
    const { subject, metrics } = createDocument({ ...made, judged: [said] });
    expect([subject.judge, metrics["reference"]?.["judged_pass_rate"]]).toEqual(["FakeJudge/v3", 1]);
    expect([document.subject.judge, "judged_pass_rate" in (document.metrics["reference"] ?? {})]).toEqual([
      null,
      false,
    ]);
  });

  it("makes two documents incomparable when it is another", async () => {
    const said = await judgeSuite(fakeJudge("v2"), suite, results, options);
    expect(judged(createDocument({ ...made, redTeam: attacked, judged: [said] })).failures).toEqual([
      { stage: "comparability", problem: "not comparable: judge is FakeJudge/v2, and the baseline has null" },
    ]);
  });

  it("fails a case without an answer, counts an unreadable grade as no pass, and asks about facts alone", async () => {
    const asked: string[] = [];
    const strange = {
      id: "strange",
      grade: async ({ question }: { readonly question: string }) => {
        asked.push(question);
        return { verdict: "unreadable" as const, reason: "hm" };
      },
    };
    const [result] = results;
    const cases = (result?.cases ?? []).slice(0, 2).map((each, at) => {
      const { answer, ...rest } = each;
      return at === 0 || answer === undefined ? rest : { ...rest, answer };
    });
    const two = [{ app: "stockroom", suite: "reference", without: [], cases }];
    const said = await judgeSuite(strange, suite, two, options);
    expect(said.grades.map(({ verdict }) => verdict)).toEqual(["fail", "unreadable"]);
    expect(asked).toEqual([suite.cases[1]?.message]);
    const { metrics } = createDocument({ ...made, judged: [said] });
    expect(metrics["reference"]?.["judged_pass_rate"]).toBe(0);
    const silent = { ...suite, cases: suite.cases.map(({ expectedFacts: _, forbiddenFacts: _1, ...each }) => each) };
    expect((await judgeSuite(strange, silent, two, options)).grades).toEqual([]);
  });
});
