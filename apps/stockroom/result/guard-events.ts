import type { RunResult } from "belay-harness";
import { guardNameOf } from "../guards/run-guard-rules.ts";
import { guardOf } from "./guard-of.ts";

/** A guard that ended a run: one of the limits, or a run guard. */
export interface GuardEvent {
  readonly step: number;
  readonly guard: string;
  readonly reason: string;
  readonly detail: string;
}

/** At most one, since the first guard ends the run. */
export function guardEventsOf({ state, termination, label, calls }: RunResult): readonly GuardEvent[] {
  if (termination?.kind === "limit") {
    const { limit: guard, detail } = termination;
    return [{ step: state.step, guard, reason: label ?? guard, detail }];
  }
  if (termination?.kind === "halted") {
    const { code, ruleId, detail } = termination;
    const decision = calls.findLast((call) => call.decision?.ruleId === ruleId)?.decision;
    const guard = guardOf(decision) ?? guardNameOf(ruleId) ?? ruleId;
    return [{ step: state.step, guard, reason: code, detail }];
  }
  return [];
}
