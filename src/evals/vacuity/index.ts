export { type Assertions, caseAssertions } from "./case-assertions.ts";
export { checkVacuity, type VacuityFinding } from "./check-vacuity.ts";
export { MUTATIONS, type Mutant, type Mutation, type MutationContext, mutantsOf } from "./mutants.ts";
export { type CaseVacuity, suiteVacuity } from "./suite-vacuity.ts";
export { type Trajectory, type TrajectoryCall, trajectoryOf } from "./trajectory.ts";
export { allBite, formatVacuity } from "./vacuity-text.ts";
