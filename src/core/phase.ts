import type { Phase, RunState } from "./run-state.ts";

/** Moves to a phase and writes the row of the transition log; staying in a phase writes nothing. */
export function moveTo(state: RunState, to: Phase, reason: string): RunState {
  if (state.phase === to) return state;
  const row = { step: state.step, from: state.phase, to, reason };
  return { ...state, phase: to, phaseChanges: [...state.phaseChanges, row] };
}
