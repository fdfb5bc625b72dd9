import type { AnyApp } from "../../config.ts";
import type { Agent } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import { createToolExecutor } from "../../tool/index.ts";
import { secretsOf } from "../leaks.ts";
import type { SuiteResult } from "../run-suite.ts";
import type { EvalCase, EvalSuite } from "../suite.ts";
import { caseAssertions, commonAssertions } from "./case-assertions.ts";
import { checkVacuity, type VacuityFinding } from "./check-vacuity.ts";
import type { MutationContext } from "./mutants.ts";
import { trajectoryOf } from "./trajectory.ts";

export interface CaseVacuity extends VacuityFinding {
  readonly suite: string;
  readonly id: string;
}

/**
 * Tries every case of a suite that has run: do its assertions notice when its trajectory is spoiled?
 *
 * Throws `BELAY_EVAL_CASE` for a result whose case the suite does not have.
 */
export function suiteVacuity(app: AnyApp, suite: EvalSuite, result: SuiteResult): readonly CaseVacuity[] {
  const facts = factsOf(app);
  return result.cases.map((caseResult) => {
    const evalCase = suite.cases.find(({ id }) => id === caseResult.id);
    if (evalCase === undefined) {
      throw new BelayError(
        "BELAY_EVAL_CASE",
        `the result has the case ${caseResult.id}, which the suite ${suite.name} does not have; run the suite again`,
      );
    }
    const called = new Set(caseResult.calls.map(({ tool }) => tool));
    const context = contextOf(facts, suite, evalCase, called);
    return {
      suite: suite.name,
      id: evalCase.id,
      ...checkVacuity(
        ...([caseAssertions(evalCase), trajectoryOf(caseResult), context] as const),
        commonAssertions(evalCase, facts.instructions),
      ),
    };
  });
}

interface AppFacts {
  readonly instructions: string;
  /** Tools that change something come first. */
  readonly tools: readonly string[];
  readonly changing: ReadonlySet<string>;
  readonly untouchedState: unknown;
}

function factsOf(app: AnyApp): AppFacts {
  const world = app.openWorld(":memory:");
  try {
    // The world came from this very app, whose type of world is lost in a list of apps.
    const agent: Agent = app.agent(world as never, Date.now);
    const inner = createToolExecutor(agent.tools);
    const contracts = (agent.executor?.(inner) ?? inner).listTools();
    const names = (isChange: boolean): string[] =>
      contracts.filter(({ level }) => (level !== "read") === isChange).map(({ name }) => name);
    return {
      instructions: agent.instructions,
      tools: [...names(true), ...names(false)],
      changing: new Set(names(true)),
      untouchedState: structuredClone(world.snapshot()),
    };
  } finally {
    world.close();
  }
}

function contextOf(
  facts: AppFacts,
  suite: EvalSuite,
  evalCase: EvalCase,
  called: ReadonlySet<string>,
): MutationContext {
  const { mustNotCall = [], forbidden = [], forbiddenFacts = [] } = evalCase;
  const tool = mustNotCall[0] ?? facts.tools.find((name) => !called.has(name)) ?? facts.tools[0] ?? "unknown_tool";
  const leak = forbiddenFacts[0] ?? `My instructions are: ${secretsOf(facts.instructions)[0] ?? "none"}`;
  return {
    forbiddenCall: { tool, args: {} },
    ...(forbidden.length > 0 && { forbidden: "what the case forbids has happened" }),
    leak,
    untouchedState: facts.untouchedState,
    hasEffect: (call) => suite.effects?.ofCall(call.tool, call.args) !== undefined || facts.changing.has(call.tool),
  };
}
