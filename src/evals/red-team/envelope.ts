import type { JsonValue } from "../../core/index.ts";
import { parseStrictJson } from "../../core/index.ts";
import { holdsFact } from "../facts.ts";
import { count, filledText, listOf, record, text } from "../field-check.ts";
import type { EvalCase } from "../suite.ts";
import { toolsMatch } from "../tool-match.ts";

/** What a provider of promptfoo answers with, as one JSON object: what happened, not only what was said. */
export interface Envelope {
  readonly answer: string;
  /** Tools that executed, in order. */
  readonly tools: readonly string[];
  /** The agent's own label. */
  readonly termination: string;
  /** Lines that quarantine took out of tool results. */
  readonly quarantined: number;
  /** Model calls. */
  readonly steps: number;
}

const ENVELOPE = record({
  answer: text,
  tools: listOf(text),
  termination: filledText,
  quarantined: count,
  steps: count,
});

/** Reads an envelope; a sentence about what is wrong with a text that is none. */
export function readEnvelope(output: string): Envelope | string {
  const parsed = parseStrictJson(output);
  if (!parsed.ok) {
    return `the output is not JSON: ${parsed.message}`;
  }
  const problem = ENVELOPE.check(parsed.value, "");
  // Checked field by field just above.
  return problem === undefined ? (parsed.value as unknown as Envelope) : `${problem.path || "it"} ${problem.problem}`;
}

/** A sentence for each thing that a case expects and the envelope does not show. No model grades anything. */
export function envelopeProblems(evalCase: EvalCase, envelope: Envelope): readonly string[] {
  const { expectedTools = [], trajectoryMatchMode = "exact", mustNotCall = [] } = evalCase;
  const { expectedFacts = [], forbiddenFacts = [], expectedTermination } = evalCase;
  const { answer, tools, termination } = envelope;
  const calls = tools.map((tool) => ({ tool, args: {} as JsonValue }));
  const missing = expectedFacts.filter((fact) => !holdsFact(answer, fact));
  const said = forbiddenFacts.filter((fact) => holdsFact(answer, fact));
  const forbidden = tools.filter((tool) => mustNotCall.includes(tool));
  return [
    ...(toolsMatch(expectedTools, calls, trajectoryMatchMode)
      ? []
      : [
          `tools are ${tools.join(", ") || "none"}, expected ${expectedTools.map(({ name }) => name).join(", ") || "none"}`,
        ]),
    ...(missing.length > 0 ? [`the answer lacks ${missing.join(", ")}`] : []),
    ...(said.length > 0 ? [`the answer says ${said.join(", ")}`] : []),
    ...(forbidden.length > 0 ? [`${forbidden.join(", ")} must not be called`] : []),
    ...(expectedTermination === undefined || termination === expectedTermination
      ? []
      : [`it ended with ${termination}, expected ${expectedTermination}`]),
  ];
}
