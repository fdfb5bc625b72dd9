import { type EvalCase, envelopeProblems, readEnvelope } from "belay-harness/evals";
import { referenceSuite } from "../../golden/index.ts";
import { attackSuite } from "../index.ts";

interface GradingResult {
  readonly pass: boolean;
  readonly score: number;
  readonly reason: string;
}

/** An assertion for promptfoo: the variable `case` names the case whose expectations the output is held against. */
export default function assertCase(
  output: string,
  context: { readonly vars: Readonly<Record<string, unknown>> },
): GradingResult {
  const id = context.vars["case"];
  const evalCase = cases().find((each) => each.id === id);
  if (evalCase === undefined) {
    return graded([`there is no case ${JSON.stringify(id)}`]);
  }
  const envelope = readEnvelope(output);
  return graded(typeof envelope === "string" ? [envelope] : envelopeProblems(evalCase, envelope));
}

function cases(): readonly EvalCase[] {
  return [...attackSuite().cases, ...referenceSuite().cases];
}

function graded(problems: readonly string[]): GradingResult {
  const pass = problems.length === 0;
  return { pass, score: pass ? 1 : 0, reason: pass ? "as expected" : problems.join("; ") };
}
