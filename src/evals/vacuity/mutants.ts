import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../../core/index.ts";
import { otherValue } from "./other-value.ts";
import type { Trajectory, TrajectoryCall } from "./trajectory.ts";

/** Each way in which a trajectory is spoiled. */
export const MUTATIONS = [
  "drop_call",
  "add_forbidden_call",
  "change_argument",
  "swap_order",
  "change_end",
  "inject_leak",
] as const;

export type Mutation = (typeof MUTATIONS)[number];

export interface Mutant {
  readonly mutation: Mutation;
  /** What was done, in words. */
  readonly what: string;
  readonly trajectory: Trajectory;
}

/** What spoiling a trajectory needs to know of the app. */
export interface MutationContext {
  /** A call that must not happen in this case, or else one that nobody asked for. */
  readonly forbiddenCall: { readonly tool: string; readonly args: JsonValue };
  /** What the world then shows, where the case says what must never happen. */
  readonly forbidden?: string;
  /** A text that no answer may hold. */
  readonly leak: string;
  /** The world in which nothing happened. */
  readonly untouchedState: unknown;
  /** Whether a call that executed changed the world. */
  hasEffect(call: TrajectoryCall): boolean;
}

/**
 * Every single mutation of a trajectory that makes a difference.
 *
 * A call that had an effect takes it along: without the call, or with another argument, the world is taken to be the
 * one in which nothing happened, since no record says what it would have been.
 */
export function mutantsOf(trajectory: Trajectory, context: MutationContext): readonly Mutant[] {
  const mutants: readonly Mutant[] = [
    ...trajectory.calls.map((call, at) => dropped(trajectory, call, at, context)),
    added(trajectory, context),
    ...trajectory.calls.flatMap((call, at) => argumentsChanged(trajectory, call, at, context)),
    ...trajectory.calls.slice(1).map((_, at) => swapped(trajectory, at)),
    ended(trajectory),
    leaked(trajectory, context),
  ];
  return mutants.filter((mutant) => !isDeepStrictEqual(mutant.trajectory, trajectory));
}

function dropped(trajectory: Trajectory, call: TrajectoryCall, at: number, context: MutationContext): Mutant {
  const place = call.status === "executed" ? trajectory.executed.indexOf(call.tool) : -1;
  const isAlone = trajectory.calls.every((other) => other === call || other.step !== call.step);
  return {
    mutation: "drop_call",
    what: `without call ${at + 1} (${call.tool})`,
    trajectory: {
      ...trajectory,
      calls: trajectory.calls.toSpliced(at, 1),
      executed: place === -1 ? trajectory.executed : trajectory.executed.toSpliced(place, 1),
      modelSteps: trajectory.modelSteps - (isAlone ? 1 : 0),
      endState: stateAfter(trajectory, call, context),
    },
  };
}

function added(trajectory: Trajectory, { forbiddenCall, forbidden }: MutationContext): Mutant {
  const step = (trajectory.calls.at(-1)?.step ?? 0) + 1;
  return {
    mutation: "add_forbidden_call",
    what: `with a call of ${forbiddenCall.tool}`,
    trajectory: {
      ...trajectory,
      calls: [...trajectory.calls, { ...forbiddenCall, step, status: "executed", decisionCode: "OK" }],
      executed: [...trajectory.executed, forbiddenCall.tool],
      modelSteps: trajectory.modelSteps + 1,
      forbidden: forbidden === undefined ? trajectory.forbidden : [...trajectory.forbidden, forbidden],
    },
  };
}

function argumentsChanged(
  trajectory: Trajectory,
  call: TrajectoryCall,
  at: number,
  context: MutationContext,
): readonly Mutant[] {
  const { args } = call;
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return Object.entries(isObject ? args : {}).map(([name, value]) => {
    const changed = { ...call, args: { ...(args as Readonly<Record<string, JsonValue>>), [name]: otherValue(value) } };
    return {
      mutation: "change_argument",
      what: `with another ${name} in call ${at + 1} (${call.tool})`,
      trajectory: {
        ...trajectory,
        calls: trajectory.calls.with(at, changed),
        endState: stateAfter(trajectory, call, context),
      },
    };
  });
}

function swapped(trajectory: Trajectory, at: number): Mutant {
  const { calls, executed } = trajectory;
  const [first, second] = [calls[at], calls[at + 1]];
  if (first === undefined || second === undefined) {
    return { mutation: "swap_order", what: "nothing to swap", trajectory };
  }
  const bothRan = first.status === "executed" && second.status === "executed";
  const place = executed.findIndex((tool, index) => tool === first.tool && executed[index + 1] === second.tool);
  return {
    mutation: "swap_order",
    what: `with calls ${at + 1} and ${at + 2} the other way round`,
    trajectory: {
      ...trajectory,
      calls: calls.with(at, { ...second, step: first.step }).with(at + 1, { ...first, step: second.step }),
      executed: bothRan && place !== -1 ? executed.with(place, second.tool).with(place + 1, first.tool) : executed,
    },
  };
}

function ended({ answer: _answer, ...trajectory }: Trajectory): Mutant {
  const stop = trajectory.isCompleted ? "stopped_early" : "completed_after_all";
  return {
    mutation: "change_end",
    what: `with the end ${stop} instead of ${trajectory.stop}`,
    trajectory: { ...trajectory, stop, isCompleted: !trajectory.isCompleted },
  };
}

function leaked(trajectory: Trajectory, { leak }: MutationContext): Mutant {
  return {
    mutation: "inject_leak",
    what: "with a leak in the answer",
    trajectory: { ...trajectory, answer: `${trajectory.answer ?? ""} ${leak}` },
  };
}

function stateAfter(trajectory: Trajectory, call: TrajectoryCall, context: MutationContext): unknown {
  return call.status === "executed" && context.hasEffect(call) ? context.untouchedState : trajectory.endState;
}
