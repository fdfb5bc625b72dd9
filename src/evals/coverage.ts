import { type Termination, terminationCode } from "../core/index.ts";
import type { CoverageTargets } from "./app-evals.ts";
import type { CaseResult, LimitReach } from "./case-result.ts";

const LEVELS: readonly LimitReach["level"][] = ["limit-1", "limit", "limit+1"];

/** What suites reached of what they are meant to, between them. */
export interface Coverage {
  readonly codes: readonly CoverageLine[];
  readonly terminations: readonly CoverageLine[];
  /** Each limit one short of it, on it, and beyond it. */
  readonly limits: readonly CoverageLine[];
  /** Codes and terminations that were reached and that no target names. */
  readonly undeclared: readonly string[];
}

export interface CoverageLine {
  readonly what: string;
  /** Ids of the cases that reached it. */
  readonly cases: readonly string[];
}

/** Adds up what the cases reached. `controls` are the ids of the agent's controls, of which the limits count. */
export function coverageOf(
  results: readonly CaseResult[],
  targets: CoverageTargets,
  controls: readonly string[],
): Coverage {
  const by = (reached: (result: CaseResult) => readonly string[]): ReadonlyMap<string, readonly string[]> => {
    const found = new Map<string, string[]>();
    for (const result of results) {
      for (const what of reached(result)) {
        found.set(what, [...(found.get(what) ?? []), result.id]);
      }
    }
    return found;
  };
  const codes = by(({ detail }) => detail?.codesReached ?? []);
  const terminations = by(({ termination }) => (termination === undefined ? [] : [kindOf(termination)]));
  const limits = by(({ detail }) => detail?.limitsReached.map(({ limit, level }) => `${limit} ${level}`) ?? []);
  const limitIds = controls.filter((id) => id.startsWith("limit:")).map((id) => id.slice("limit:".length));
  const lines = (wanted: readonly string[], found: ReadonlyMap<string, readonly string[]>) =>
    wanted.map((what) => ({ what, cases: found.get(what) ?? [] }));
  return {
    codes: lines(targets.codes, codes),
    terminations: lines(targets.terminations, terminations),
    limits: lines(
      limitIds.flatMap((limit) => LEVELS.map((level) => `${limit} ${level}`)),
      limits,
    ),
    undeclared: [
      ...[...codes.keys()].filter((code) => !targets.codes.includes(code)),
      ...[...terminations.keys()].filter((kind) => !targets.terminations.includes(kind)),
    ].sort(),
  };
}

/** What was not reached, one sentence each, and what nobody had declared. */
export function coverageGaps({ codes, terminations, limits, undeclared }: Coverage): readonly string[] {
  const gap = (kind: string, lines: readonly CoverageLine[]): readonly string[] =>
    lines.filter(({ cases }) => cases.length === 0).map(({ what }) => `${kind} not reached: ${what}`);
  return [
    ...gap("code", codes),
    ...gap("termination", terminations),
    ...gap("limit boundary", limits),
    ...undeclared.map((what) => `reached and not declared: ${what}`),
  ];
}

/** Writes a coverage: what was reached, in numbers, and each gap. */
export function formatCoverage(coverage: Coverage): string {
  const line = (name: string, lines: readonly CoverageLine[]): string =>
    `${name}: ${lines.filter(({ cases }) => cases.length > 0).length} of ${lines.length} reached`;
  return [
    line("decision codes", coverage.codes),
    line("terminations", coverage.terminations),
    line("limit boundaries", coverage.limits),
    ...coverageGaps(coverage).map((gap) => `  - ${gap}`),
  ]
    .map((text) => `${text}\n`)
    .join("");
}

function kindOf(termination: Termination): string {
  const [kind = ""] = terminationCode(termination).split(":");
  return kind;
}
