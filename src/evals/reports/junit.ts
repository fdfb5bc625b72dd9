import type { CaseOutcome, DocumentCase, EvalDocument } from "../document.ts";
import type { DocumentVerdict } from "../gate-document.ts";
import { escapeMarkup } from "./escape-markup.ts";
import type { ReportOptions } from "./markdown.ts";

interface TestCase {
  readonly className: string;
  readonly name: string;
  /** Absent: it holds. */
  readonly failure?: string;
}

/**
 * Writes a document of results as JUnit XML: a test suite for each suite and a test for each time that a case ran, and
 * one for each problem of the gate.
 */
export function junitReport(document: EvalDocument, { verdict }: ReportOptions = {}): string {
  const { app } = document.subject;
  const suites = Object.keys(document.metrics).map((suite) => ({
    name: `${app} ${suite}`,
    tests: document.cases.filter((each) => each.suite === suite).flatMap((each) => testsOf(app, each)),
  }));
  const all = [...suites, ...(verdict === undefined ? [] : [{ name: `${app} gate`, tests: gateTests(app, verdict) }])];
  const count = (tests: readonly TestCase[]): string =>
    `tests="${tests.length}" failures="${tests.filter(({ failure }) => failure !== undefined).length}" errors="0" skipped="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeMarkup(app)}" ${count(all.flatMap(({ tests }) => tests))}>`,
    ...all.flatMap(({ name, tests }) => [
      `  <testsuite name="${escapeMarkup(name)}" timestamp="${escapeMarkup(document.date)}" ${count(tests)}>`,
      ...tests.map(testText),
      "  </testsuite>",
    ]),
    "</testsuites>",
    "",
  ].join("\n");
}

function testsOf(app: string, { suite, id, class: name, repeats }: DocumentCase): readonly TestCase[] {
  const className = `${app}.${suite}.${name}`;
  return repeats.length === 0
    ? [{ className, name: id, failure: "it did not run" }]
    : repeats.map((repeat, at) => ({
        className,
        name: repeats.length === 1 ? id : `${id} (run ${at + 1})`,
        ...failureOf(repeat),
      }));
}

function failureOf({ holds, reasons }: CaseOutcome): Pick<TestCase, "failure"> {
  return holds ? {} : { failure: reasons.join("\n") || "its decision codes or its audit log are not as expected" };
}

function gateTests(app: string, { passed, failures }: DocumentVerdict): readonly TestCase[] {
  const className = `${app}.gate`;
  return passed
    ? [{ className, name: "gate" }]
    : failures.map(({ stage, problem }, at) => ({ className, name: `${stage} ${at + 1}`, failure: problem }));
}

function testText({ className, name, failure }: TestCase): string {
  const head = `    <testcase classname="${escapeMarkup(className)}" name="${escapeMarkup(name)}" time="0"`;
  if (failure === undefined) {
    return `${head}/>`;
  }
  const [first = ""] = failure.split("\n");
  return `${head}><failure message="${escapeMarkup(first)}">${escapeMarkup(failure)}</failure></testcase>`;
}
