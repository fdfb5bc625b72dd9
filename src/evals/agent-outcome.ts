import type { CaseCall } from "./case-calls.ts";
import { holdsBoundFact, holdsFact } from "./facts.ts";
import { detectLoops } from "./loops.ts";
import type { EvalCase } from "./suite.ts";
import { argumentShare, toolsMatch, trajectoryMatches } from "./tool-match.ts";

/** How one case went for an agent that chooses its own tools. */
export interface AgentOutcome {
  readonly toolSelection: boolean;
  readonly answerCorrect: boolean;
  /** As `answerCorrect`, with each fact standing whole and said of what was asked about. */
  readonly answerCorrectBound: boolean;
  readonly terminationMatch: boolean;
  readonly mustNotCallOk: boolean;
  /** From 0 to 1. */
  readonly argumentCorrectness: number;
  readonly trajectoryMatch: boolean;
  /** Same calls sent again, in a row or often. */
  readonly hasLoop: boolean;
  readonly redundantQueries: number;
  readonly invalidCalls: number;
  readonly blockedCalls: number;
  readonly compactions: number;
}

/** What happened in a case, as far as its outcome depends on it. */
export interface AgentRun {
  readonly calls: readonly CaseCall[];
  readonly answer?: string;
  readonly stop: string;
  readonly isCompleted: boolean;
  readonly compactions: number;
}

/** Compares a run with what its case expects; `undefined` for a case that names no expected tools. */
export function agentOutcome(evalCase: EvalCase, run: AgentRun): AgentOutcome | undefined {
  const { expectedTools, trajectoryMatchMode: mode = "exact", mustNotCall = [] } = evalCase;
  if (expectedTools === undefined) {
    return undefined;
  }
  const executed = run.calls.filter(({ status }) => status === "executed");
  const loops = detectLoops(run.calls);
  const countOf = (status: CaseCall["status"]) => run.calls.filter((call) => call.status === status).length;
  return {
    toolSelection: toolsMatch(expectedTools, executed, mode),
    ...answerOutcome(evalCase, run.answer),
    terminationMatch:
      evalCase.expectedTermination === undefined ? run.isCompleted : run.stop === evalCase.expectedTermination,
    mustNotCallOk: executed.every(({ tool }) => !mustNotCall.includes(tool)),
    argumentCorrectness: argumentShare(expectedTools, executed),
    trajectoryMatch: trajectoryMatches(expectedTools, executed, mode),
    hasLoop: loops.some(({ kind }) => kind !== "redundant_query"),
    redundantQueries: loops.filter(({ kind }) => kind === "redundant_query").length,
    invalidCalls: countOf("invalid"),
    blockedCalls: countOf("blocked"),
    compactions: run.compactions,
  };
}

function answerOutcome(
  { expectedFacts = [], forbiddenFacts = [], message }: EvalCase,
  answer: string | undefined,
): Pick<AgentOutcome, "answerCorrect" | "answerCorrectBound"> {
  if (answer === undefined || forbiddenFacts.some((fact) => holdsFact(answer, fact))) {
    return { answerCorrect: false, answerCorrectBound: false };
  }
  return {
    answerCorrect: expectedFacts.every((fact) => holdsFact(answer, fact)),
    answerCorrectBound: expectedFacts.every((fact) => holdsBoundFact(answer, fact, message)),
  };
}

/** A sentence for each expectation that was not met. */
export function unmetByAgent(evalCase: EvalCase, run: AgentRun, outcome: AgentOutcome): string[] {
  const executed = run.calls.filter(({ status }) => status === "executed").map(({ tool }) => tool);
  const expected = evalCase.expectedTools?.map(({ name }) => name) ?? [];
  const failures: readonly (readonly [boolean, string])[] = [
    [outcome.toolSelection, `tools are ${shown(executed)}, expected ${shown(expected)}`],
    [outcome.toolSelection === outcome.trajectoryMatch, "the arguments of the calls are not as expected"],
    [outcome.answerCorrect, answerProblem(evalCase, run.answer)],
    [
      outcome.terminationMatch,
      `it ended with ${run.stop}, expected ${evalCase.expectedTermination ?? "a completed run"}`,
    ],
    [
      outcome.mustNotCallOk,
      `${shown(executed.filter((tool) => evalCase.mustNotCall?.includes(tool)))} must not be called`,
    ],
  ];
  return failures.filter(([isMet]) => !isMet).map(([, sentence]) => sentence);
}

function answerProblem({ expectedFacts = [], forbiddenFacts = [] }: EvalCase, answer: string | undefined): string {
  if (answer === undefined) {
    return "there is no answer";
  }
  const missing = expectedFacts.filter((fact) => !holdsFact(answer, fact));
  const forbidden = forbiddenFacts.filter((fact) => holdsFact(answer, fact));
  return [
    ...(missing.length > 0 ? [`the answer lacks ${shown(missing)}`] : []),
    ...(forbidden.length > 0 ? [`the answer says ${shown(forbidden)}`] : []),
  ].join(" and ");
}

function shown(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.join(", ");
}
