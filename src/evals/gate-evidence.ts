import { datasetHash } from "./dataset.ts";
import type { DocumentSubject, EvalDocument } from "./document.ts";
import type { EvalSuite } from "./suite.ts";

/** A sentence for each reason why a document proves nothing about the suites of this checkout. */
export function evidenceProblems(document: EvalDocument, suites: readonly EvalSuite[]): readonly string[] {
  return [
    ...suites.flatMap((suite) => suiteProblems(document, suite)),
    ...Object.entries(document.metrics).flatMap(([suite, values]) => notFinite(`${suite}: `, values)),
    ...document.cases.flatMap(({ suite, id, repeats }) =>
      repeats.flatMap((outcome) => notFinite(`${suite} ${id}: `, { ...outcome, reasons: null })),
    ),
  ];
}

function suiteProblems(document: EvalDocument, suite: EvalSuite): readonly string[] {
  const { datasets, repeats } = document.subject;
  const recorded = Object.hasOwn(datasets, suite.name) ? datasets[suite.name] : undefined;
  if (recorded === undefined) {
    return [`the suite ${suite.name} did not run`];
  }
  const hash = datasetHash(suite);
  if (recorded !== hash) {
    return [`the cases of ${suite.name} have the hash ${short(recorded)}, and this checkout has ${short(hash)}`];
  }
  const ran = new Map(
    document.cases
      .filter((each) => each.suite === suite.name)
      .map(({ id, repeats: outcomes }) => [id, outcomes.length]),
  );
  const missed = suite.cases.filter(({ id }) => ran.get(id) !== repeats);
  return missed.length === 0
    ? []
    : [
        `${missed.length} case(s) of ${suite.name} did not run ${repeats} time(s): ${names(missed.map(({ id }) => id))}`,
      ];
}

function notFinite(where: string, values: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(values)
    .filter(([, value]) => typeof value === "number" && !Number.isFinite(value))
    .map(([name, value]) => `${where}${name} is ${String(value)}`);
}

/** A sentence for each thing in which a baseline is about something else. */
export function comparabilityProblems(subject: DocumentSubject, baseline: DocumentSubject): readonly string[] {
  const keys = Object.keys(subject) as (keyof DocumentSubject)[];
  return keys.flatMap((key) => {
    const [now, before] = [text(subject[key]), text(baseline[key])];
    return now === before ? [] : [`not comparable: ${key} is ${short(now)}, and the baseline has ${short(before)}`];
  });
}

/** A sentence for each reason why a document must not become a baseline. */
export function baselineRefusals(document: EvalDocument, suites: readonly EvalSuite[]): readonly string[] {
  const { weaknesses, without } = document;
  return [
    ...(weaknesses.length > 0 ? [`the app ran with weaknesses: ${weaknesses.join(", ")}`] : []),
    ...(without.length > 0 ? [`controls were left out: ${without.join(", ")}`] : []),
    ...evidenceProblems(document, suites),
  ];
}

export function names(ids: readonly string[]): string {
  const SHOWN = 10;
  return ids.length <= SHOWN ? ids.join(", ") : `${ids.slice(0, SHOWN).join(", ")} and ${ids.length - SHOWN} more`;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "absent");
}

function short(value: string): string {
  return /^[0-9a-f]{64}$/.test(value) ? `${value.slice(0, 12)}…` : value;
}
