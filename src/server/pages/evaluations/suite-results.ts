import { wilson } from "../../../evals/index.ts";
import { type Fields, fieldsOf, listOf, numberOf, textsOf } from "./json-fields.ts";

interface ClassShare {
  readonly name: string;
  readonly passed: number;
  readonly total: number;
}

/** One stored run of a suite, as far as the pages show it. */
export interface EvalResult {
  readonly at: number;
  readonly app: string;
  readonly suite: string;
  /** Controls that were left out; empty for a result of the app as it is. */
  readonly without: readonly string[];
  readonly passed: number;
  readonly total: number;
  readonly interval: { readonly low: number; readonly high: number };
  readonly classes: readonly ClassShare[];
  /** Absent when the document does not say. */
  readonly gate?: { readonly passed: boolean; readonly failures: readonly string[] };
  readonly failedCases: readonly { readonly id: string; readonly reasons: readonly string[] }[];
}

/**
 * Reads the results in a document, one for each suite: what `belay eval --json` prints, or what `--out` writes. None for
 * any other document; what is not known of one is passed over, so that newer ones can be shown too.
 */
export function suiteResults(document: Fields, at: number): readonly EvalResult[] {
  const subject = fieldsOf(document["subject"]);
  return typeof subject["app"] === "string"
    ? documentResults(document, subject["app"], at)
    : reportResults(document, at);
}

function reportResults(document: Fields, at: number): readonly EvalResult[] {
  const { app, suite } = document;
  const success = fieldsOf(document["success"]);
  const [passed, total] = [countOf(success["passed"]), countOf(success["total"])];
  if (typeof app !== "string" || typeof suite !== "string" || passed === undefined || total === undefined) {
    return [];
  }
  const gate = fieldsOf(document["gate"]);
  return [
    {
      at,
      app,
      suite,
      without: textsOf(document["without"]),
      ...shareOf(passed, total),
      classes: Object.entries(fieldsOf(document["classes"])).map(([name, share]) => {
        const { passed: classPassed, total: classTotal } = fieldsOf(share);
        return { name, passed: numberOf(classPassed) ?? 0, total: numberOf(classTotal) ?? 0 };
      }),
      ...(typeof gate["passed"] === "boolean" && {
        gate: { passed: gate["passed"], failures: textsOf(gate["failures"]) },
      }),
      failedCases: listOf(document["cases"])
        .filter((each) => each["passed"] !== true)
        .map((each) => ({ id: String(each["id"]), reasons: textsOf(each["reasons"]) })),
    },
  ];
}

/** A case of a document passed when each of its repeats did. */
function documentResults(document: Fields, app: string, at: number): readonly EvalResult[] {
  const cases = listOf(document["cases"]).map((each) => ({
    id: String(each["id"]),
    suite: String(each["suite"]),
    class: String(each["class"]),
    failed: listOf(each["repeats"]).find((repeat) => repeat["passed"] !== true),
  }));
  return [...Map.groupBy(cases, ({ suite }) => suite)].map(([suite, own]) => {
    const failed = own.filter((each) => each.failed !== undefined);
    return {
      at,
      app,
      suite,
      without: textsOf(document["without"]),
      ...shareOf(own.length - failed.length, own.length),
      classes: [...Map.groupBy(own, (each) => each.class)].map(([name, group]) => ({
        name,
        passed: group.filter((each) => each.failed === undefined).length,
        total: group.length,
      })),
      failedCases: failed.map((each) => ({ id: each.id, reasons: textsOf(each.failed?.["reasons"]) })),
    };
  });
}

function shareOf(passed: number, total: number): Pick<EvalResult, "passed" | "total" | "interval"> {
  const sound = Math.min(passed, total);
  return { passed: sound, total, interval: wilson(sound, total) };
}

function countOf(value: unknown): number | undefined {
  const count = numberOf(value);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
