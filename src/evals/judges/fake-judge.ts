import { holdsBoundFact, holdsFact } from "../facts.ts";
import type { Grade, GradedAnswer, Judge } from "./judge.ts";
import type { RubricVersion } from "./rubric.ts";

/**
 * A deterministic judge that reads facts and nothing else: position, length and author cannot move it.
 *
 * By `v1` at least half of the facts will do (the published fault of that rubric); by `v2` all of them must be there
 * and no forbidden one; by `v3` they must also stand whole and be said of what was asked about.
 */
export function fakeJudge(rubric: RubricVersion = "v3"): Judge {
  return {
    id: `FakeJudge/${rubric}`,
    grade: async (answer) => grade(answer, rubric),
  };
}

function grade({ question, answer, facts, forbiddenFacts = [] }: GradedAnswer, rubric: RubricVersion): Grade {
  const holds = (fact: string): boolean =>
    rubric === "v3" ? holdsBoundFact(answer, fact, question) : holdsFact(answer, fact);
  const missing = facts.filter((fact) => !holds(fact));
  if (rubric === "v1") {
    const passes = facts.length - missing.length >= facts.length / 2;
    return { verdict: passes ? "pass" : "fail", reason: `${facts.length - missing.length} of ${facts.length} facts` };
  }
  const said = forbiddenFacts.filter((fact) => holdsFact(answer, fact));
  const problems = [
    ...(missing.length > 0 ? [`it lacks ${missing.join(", ")}`] : []),
    ...(said.length > 0 ? [`it says ${said.join(", ")}`] : []),
  ];
  return problems.length > 0
    ? { verdict: "fail", reason: problems.join(" and ") }
    : { verdict: "pass", reason: "every fact is there" };
}
