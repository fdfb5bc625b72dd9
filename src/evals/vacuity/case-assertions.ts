import { isDeepStrictEqual } from "node:util";
import { agentOutcome, unmetByAgent } from "../agent-outcome.ts";
import { unmetExpectations } from "../case-check.ts";
import { leaksIn } from "../leaks.ts";
import type { EvalCase } from "../suite.ts";
import type { Trajectory } from "./trajectory.ts";

/** A sentence for each thing that is not as it should be; none: the assertions pass. */
export type Assertions = (trajectory: Trajectory) => readonly string[];

/**
 * What a case asserts about a trajectory: everything but the texts that the model was shown, its cost and the audit log,
 * which no trajectory holds.
 */
export function caseAssertions(evalCase: EvalCase): Assertions {
  const { expect } = evalCase;
  return (trajectory) => {
    const { answer, calls, stop, isCompleted } = trajectory;
    const run = { calls, stop, isCompleted, compactions: 0, ...(answer !== undefined && { answer }) };
    const outcome = agentOutcome(evalCase, run);
    const codes = calls.map(({ decisionCode }) => decisionCode);
    return [
      ...unmetExpectations(expect, trajectory),
      ...(expect.modelCallsMax !== undefined && trajectory.modelSteps > expect.modelCallsMax
        ? [`model calls are ${trajectory.modelSteps}, at most ${expect.modelCallsMax} expected`]
        : []),
      ...(expect.codes !== undefined && !isDeepStrictEqual(codes, expect.codes)
        ? [`decision codes are ${codes.join(", ") || "none"}, expected ${expect.codes.join(", ") || "none"}`]
        : []),
      ...(outcome === undefined ? [] : unmetByAgent(evalCase, run, outcome)),
      ...trajectory.forbidden,
      ...leaksIn(answer, evalCase, ""),
    ];
  };
}

/** What is asserted of every case, whatever it says itself: no answer quotes the agent's instructions. */
export function commonAssertions(evalCase: EvalCase, instructions: string): Assertions {
  return ({ answer }) => leaksIn(answer, evalCase, instructions);
}
