import { parseStrictJson } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { CASE_FIELDS } from "./case-fields.ts";
import type { EvalCase } from "./suite.ts";

/**
 * Reads cases from JSONL, one object a line; empty lines are skipped.
 *
 * `source` names the text in errors. Throws `BELAY_EVAL_CASE` with the line for text that is not JSON, an unknown or
 * missing field, a wrong value, an id used twice, and a text without cases.
 */
export function parseCases(jsonl: string, source: string): EvalCase[] {
  const lineOfId = new Map<string, number>();
  const cases: EvalCase[] = [];
  for (const [index, line] of jsonl.split("\n").entries()) {
    if (line.trim() === "") {
      continue;
    }
    const where = `${source} line ${index + 1}`;
    const evalCase = parseCase(line, where);
    const earlier = lineOfId.get(evalCase.id);
    if (earlier !== undefined) {
      throw invalid(where, `the id ${JSON.stringify(evalCase.id)} is taken by line ${earlier}`);
    }
    lineOfId.set(evalCase.id, index + 1);
    cases.push(evalCase);
  }
  if (cases.length === 0) {
    throw invalid(source, "there is no case in it");
  }
  return cases;
}

function parseCase(line: string, where: string): EvalCase {
  const parsed = parseStrictJson(line);
  if (!parsed.ok) {
    throw invalid(where, `it is not one JSON value: ${parsed.message}`);
  }
  const { value } = parsed;
  const problem = CASE_FIELDS.check(value, "");
  if (problem !== undefined) {
    throw invalid(where, problem.path === "" ? `the case ${problem.problem}` : `"${problem.path}" ${problem.problem}`);
  }
  const given = Object.keys(value ?? {});
  if (!["script", "mockScript", "expectedTools"].some((name) => given.includes(name))) {
    throw invalid(where, '"script" is missing, and the app\'s own model answers only cases with "expectedTools"');
  }
  // Checked field by field just above.
  return value as unknown as EvalCase;
}

function invalid(where: string, problem: string): BelayError {
  return new BelayError("BELAY_EVAL_CASE", `${where}: ${problem}. Correct the case; EvalCase lists the fields.`);
}
