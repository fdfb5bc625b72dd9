import type { Assertions } from "./case-assertions.ts";
import { MUTATIONS, type Mutant, type Mutation, type MutationContext, mutantsOf } from "./mutants.ts";
import type { Trajectory } from "./trajectory.ts";

/** How one set of assertions took the mutants of a trajectory that passes it. */
export interface VacuityFinding {
  /** `failing`: the trajectory itself does not pass, so nothing was tried. `vacuous`: every mutant passes too. */
  readonly verdict: "bites" | "vacuous" | "failing";
  /** Mutants that the assertions noticed, and how many there were, by what was done. */
  readonly killed: Readonly<Record<Mutation, { readonly killed: number; readonly total: number }>>;
  /** What was done to the mutants that nobody noticed. */
  readonly survivors: readonly Pick<Mutant, "mutation" | "what">[];
}

/**
 * Whether assertions can fail at all: a passing trajectory is spoiled in every way that is known, and assertions that
 * still pass each time prove nothing. What `common` assertions notice is counted, and makes no set bite.
 */
export function checkVacuity(
  assertions: Assertions,
  trajectory: Trajectory,
  context: MutationContext,
  common: Assertions = () => [],
): VacuityFinding {
  const isFailing = assertions(trajectory).length + common(trajectory).length > 0;
  const tried = isFailing ? [] : mutantsOf(trajectory, context);
  const outcomes = tried.map((mutant) => {
    const isOwn = assertions(mutant.trajectory).length > 0;
    return { mutant, isOwn, isKilled: isOwn || common(mutant.trajectory).length > 0 };
  });
  const tally = (mutation: Mutation) => {
    const of = outcomes.filter(({ mutant }) => mutant.mutation === mutation);
    return { killed: of.filter(({ isKilled }) => isKilled).length, total: of.length };
  };
  return {
    verdict: isFailing ? "failing" : outcomes.some(({ isOwn }) => isOwn) ? "bites" : "vacuous",
    killed: Object.fromEntries(MUTATIONS.map((mutation) => [mutation, tally(mutation)])) as VacuityFinding["killed"],
    survivors: outcomes
      .filter(({ isKilled }) => !isKilled)
      .map(({ mutant: { mutation, what } }) => ({ mutation, what })),
  };
}
