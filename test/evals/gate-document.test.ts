import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import { WEAKNESSES } from "../../apps/stockroom/weaknesses.ts";
import type { AnyApp } from "../../src/config.ts";
import {
  AGGREGATE_THRESHOLDS,
  baselineRefusals,
  controlsOfApp,
  createDocument,
  type EvalDocument,
  type EvalSuite,
  FULL_THRESHOLDS,
  gateDocument,
  openSuite,
  parseDocument,
  runSuite,
} from "../../src/evals/index.ts";

const NAMES = ["reference", "guards"];
const TIMEOUT_MS = 120_000;
const stockroom = createStockroomApp();

/** A case that fails without each control, in the order of the controls; `belay ablate` prints them all. */
const NEEDED_BY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shop: {
    "limit:max_steps": "L01",
    "limit:cost_budget": "L05",
    "limit:wall_clock": "L18",
    "limit:repeated_call": "L09",
    "limit:cycle": "L11",
    "limit:invalid_calls": "L16",
    "limit:unreadable_replies": "L13",
    "limit:calls_per_turn": "T03",
    "rule:named_order": "R01",
    "rule:order_exists": "R02",
    "rule:order_belongs_to_customer": "R03",
    "rule:cancellable": "R07",
    "rule:cancel_allowed": "R05",
    "rule:order_not_cancelled": "R10",
    "rule:refund_window": "R13",
    "rule:amount_remaining": "R16",
    "rule:amount_stated": "R20",
    "rule:auto_limit": "P01",
    "rule:refund_allowed": "R11",
    "rule:email_once": "R31",
    "rule:email_allowed": "R29",
    "rule:requested_by_customer": "R23",
    "filter:strip_invisible": "S02",
    "filter:size_cap": "S01",
    "guard:strict_arguments": "V01",
    "guard:offered_tools": "V11",
    "guard:approval_gate": "P01",
    "guard:approval_recheck": "P02",
    "guard:approval_expiry": "P01",
    "guard:approval_integrity": "P10",
    "guard:transaction_recheck": "W01",
    "guard:stable_key": "D01",
    "guard:untrusted_wrapper": "S03",
  },
  stockroom: {
    "limit:max_steps": "X02",
    "limit:token_budget": "X03",
    "limit:wall_clock": "X04",
    "limit:repeated_call": "X01",
    "limit:invalid_calls": "X05",
    "limit:unreadable_replies": "X06",
    "limit:rejections": "X47",
    "limit:calls_per_turn": "X21",
    "rule:restock_allowed": "X13",
    "filter:internal_fields": "X37",
    "filter:quarantine": "G041",
    "filter:size_cap": "X34",
    "filter:strip_invisible": "X35",
    "guard:strict_arguments": "X12",
    "guard:offered_tools": "X11",
    "guard:approval_gate": "X40",
    "guard:approval_recheck": "X43",
    "guard:approval_expiry": "X42",
    "guard:approval_integrity": "X44",
    "guard:stable_key": "X38",
    "guard:untrusted_wrapper": "X36",
  },
};

const suitesOf = (app: AnyApp): Promise<readonly EvalSuite[]> => Promise.all(NAMES.map((name) => openSuite(app, name)));

async function documentOf(app: AnyApp, options: { without?: readonly string[]; times?: number } = {}) {
  const repeats = [];
  for (let time = 0; time < (options.times ?? 1); time += 1) {
    const results = [];
    for (const name of NAMES) results.push(await runSuite(app, name, { without: options.without ?? [] }));
    repeats.push(results);
  }
  return createDocument({ app, suites: await suitesOf(app), repeats, belayVersion: "0.0.0", at: 0 });
}

const baselineOf = (app: AnyApp): EvalDocument => {
  const file = app.evals?.baseline as URL;
  return parseDocument(readFileSync(file, "utf8"), file.pathname);
};

const whole = documentOf(stockroom);
const judged = async (document: EvalDocument, baseline: EvalDocument | undefined, thresholds = FULL_THRESHOLDS) =>
  gateDocument(document, { thresholds, suites: await suitesOf(stockroom), baseline });
const stagesOf = ({ failures }: { failures: readonly { stage: string }[] }) => [
  ...new Set(failures.map(({ stage }) => stage)),
];

describe("the gate", () => {
  it.each([
    ["shop", shop as AnyApp],
    ["stockroom", stockroom],
  ])(
    "passes %s against its committed baseline",
    async (_, app) => {
      const document = await documentOf(app);
      const thresholds = app.evals?.gate ?? FULL_THRESHOLDS;
      const verdict = gateDocument(document, { thresholds, suites: await suitesOf(app), baseline: baselineOf(app) });
      expect(verdict.failures).toEqual([]);
      expect(verdict.notes).toEqual([expect.stringMatching(/^paired with the baseline: 0 lost, 0 won .*p = 1\.000/)]);
    },
    TIMEOUT_MS,
  );

  describe("pr gate rejects every seeded weakness", () => {
    it.each(WEAKNESSES)(
      "%s",
      async (weakness) => {
        const document = await documentOf(createStockroomApp({ weaknesses: [weakness] }));
        const { failures } = await judged(document, baselineOf(stockroom));
        // That something else ran is one reason; it must also fail for what went wrong.
        expect(failures.filter(({ stage }) => stage === "invariants" || stage === "category")).not.toEqual([]);
        // The same results under the subject of the baseline: paired outcomes are then looked at too.
        const disguised = { ...document, subject: baselineOf(stockroom).subject };
        expect(stagesOf(await judged(disguised, baselineOf(stockroom)))).toContain("regression");
      },
      TIMEOUT_MS,
    );
  });

  it(
    "looked at aggregates alone before, and let two of the four through",
    async () => {
      const passed = [];
      for (const weakness of WEAKNESSES) {
        const document = await documentOf(createStockroomApp({ weaknesses: [weakness] }));
        const disguised = { ...document, subject: baselineOf(stockroom).subject };
        if ((await judged(disguised, baselineOf(stockroom), AGGREGATE_THRESHOLDS)).passed) passed.push(weakness);
      }
      expect(passed).toEqual(["oversized_payload", "naive_retry"]);
    },
    TIMEOUT_MS,
  );

  it.each([
    ["shop", shop as AnyApp],
    ["stockroom", stockroom],
  ])(
    "fails %s without any one of its controls",
    async (name, app) => {
      const suites = await suitesOf(app);
      const results = await Promise.all(NAMES.map((suite) => runSuite(app, suite)));
      const thresholds = app.evals?.gate ?? FULL_THRESHOLDS;
      const baseline = baselineOf(app);
      const needed = NEEDED_BY[name] ?? {};
      expect(Object.keys(needed)).toEqual(
        controlsOfApp(app).flatMap(({ id, idle }) => (idle === undefined ? [id] : [])),
      );
      const passing = [];
      for (const [control, id] of Object.entries(needed)) {
        const suite = suites.find(({ cases }) => cases.some((evalCase) => evalCase.id === id)) as EvalSuite;
        const { cases } = await runSuite(app, suite.name, { only: [id], without: [control] });
        // The clean run with the one case as it went without the control: a gate must not need more than that.
        const mixed = results.map((result) =>
          result.suite === suite.name
            ? { ...result, cases: result.cases.map((each) => cases.find((other) => other.id === each.id) ?? each) }
            : result,
        );
        const document = createDocument({ app, suites, repeats: [mixed], belayVersion: "0.0.0", at: 0 });
        const { failures } = gateDocument(document, { thresholds, suites, baseline });
        if (!failures.some(({ stage }) => stage === "invariants")) passing.push(`${control} ${id}`);
      }
      expect(passing).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe("evidence", () => {
  it("is missing when a case did not run as often as recorded, and when the cases are others", async () => {
    const document = await whole;
    const [first, ...others] = document.cases;
    const partial = { ...document, cases: others };
    expect(stagesOf(await judged(partial, document))).toContain("evidence");
    expect((await judged(partial, document)).failures[0]?.problem).toBe(
      "1 case(s) of reference did not run 1 time(s): G001",
    );
    const twice = { ...document, cases: [{ ...first, repeats: [] } as EvalDocument["cases"][number], ...others] };
    expect(stagesOf(await judged(twice, document))).toContain("evidence");
    const datasets = { ...document.subject.datasets, guards: "0".repeat(64) };
    const [{ problem } = { problem: "" }] = (
      await judged({ ...document, subject: { ...document.subject, datasets } }, document)
    ).failures;
    expect(problem).toMatch(/^the cases of guards have the hash 000000000000…, and this checkout has [0-9a-f]{12}…$/);
  });

  it("is missing when a metric is no number", async () => {
    const document = await whole;
    const metrics = { ...document.metrics, reference: { ...document.metrics["reference"], loop_rate: Number.NaN } };
    expect((await judged({ ...document, metrics }, document)).failures).toContainEqual({
      stage: "evidence",
      problem: "reference: loop_rate is NaN",
    });
  });

  it("is not there without a baseline", async () => {
    expect(stagesOf(await judged(await whole, undefined))).toEqual(["comparability"]);
  });
});

describe("comparability", () => {
  it.each([
    ["mode", "live"],
    ["agentModel", "another"],
    ["judge", "a judge"],
    ["transport", "mcp"],
    ["repeats", 5],
    ["policyHash", "x"],
    ["promptHash", "x"],
    ["toolSpecHash", "x"],
    ["priceTableHash", "x"],
  ])("ends at another %s, and no delta is given", async (key, value) => {
    const document = await whole;
    const baseline = { ...document, subject: { ...document.subject, [key]: value } } as EvalDocument;
    const verdict = await judged(document, baseline);
    expect(verdict.failures.map(({ stage }) => stage)).toEqual(["comparability"]);
    expect(verdict.failures[0]?.problem).toMatch(new RegExp(`^not comparable: ${key} is `));
    expect(verdict.notes).toEqual([]);
  });
});

describe("regression and cost", () => {
  it("fail for a lost case and for dearer runs, in their order", async () => {
    const document = await whole;
    const [first, ...others] = document.cases;
    const broken = first?.repeats.map((outcome) => ({ ...outcome, holds: false })) ?? [];
    const reference = { ...document.metrics["reference"] };
    reference["mean_input_tokens"] = Number(reference["mean_input_tokens"]) * 1.11;
    const worse = {
      ...document,
      metrics: { ...document.metrics, reference },
      cases: [{ ...first, repeats: broken } as EvalDocument["cases"][number], ...others],
    };
    const { failures, notes } = await judged(worse, document);
    expect(failures.map(({ stage }) => stage)).toEqual(["regression", "cost"]);
    expect(failures[0]?.problem).toBe("1 case(s) held in the baseline and fail now: reference G001");
    expect(failures[1]?.problem).toMatch(/^mean_input_tokens grew more than 10 %: /);
    expect(notes[0]).toMatch(/^paired with the baseline: 1 lost, 0 won \(exact McNemar p = 1\.000\)/);
  });

  it("are told and not gated in live mode", async () => {
    const document = await whole;
    const live = { ...document, subject: { ...document.subject, mode: "live" } } as EvalDocument;
    const reference = { ...live.metrics["reference"], tool_selection_accuracy: 0.5 };
    const verdict = await judged({ ...live, metrics: { ...live.metrics, reference } }, live);
    expect(verdict.passed).toBe(true);
    expect(verdict.notes[0]).toBe("not gated in live mode: tool_selection_accuracy is 0.50, below 0.85");
  });
});

describe("a baseline", () => {
  it("is refused from a run with weaknesses, without a control, in parts, or with a number that is none", async () => {
    const document = await whole;
    const suites = await suitesOf(stockroom);
    expect(baselineRefusals(document, suites)).toEqual([]);
    expect(baselineRefusals({ ...document, weaknesses: ["naive_retry"] }, suites)).toEqual([
      "the app ran with weaknesses: naive_retry",
    ]);
    expect(baselineRefusals({ ...document, without: ["rule:x"] }, suites)).toEqual(["controls were left out: rule:x"]);
    expect(baselineRefusals({ ...document, cases: document.cases.slice(1) }, suites)).toHaveLength(1);
    const metrics = { ...document.metrics, guards: { cost_usd: Number.POSITIVE_INFINITY } };
    expect(baselineRefusals({ ...document, metrics }, suites)).toEqual(["guards: cost_usd is Infinity"]);
  });

  it("is read back as it was written, and nothing else is", async () => {
    const document = await whole;
    expect(parseDocument(JSON.stringify(document), "x")).toEqual(JSON.parse(JSON.stringify(document)));
    for (const bad of ["{", "[]", JSON.stringify({ ...document, schema: "belay.evals/9" })]) {
      expect(() => parseDocument(bad, "x.json")).toThrow(expect.objectContaining({ code: "BELAY_EVAL_CASE" }));
    }
  });
});
