import { MUTATIONS } from "./mutants.ts";
import type { CaseVacuity } from "./suite-vacuity.ts";

/** Writes how many mutants of each kind the cases noticed, and every case that noticed none. */
export function formatVacuity(cases: readonly CaseVacuity[]): string {
  const tried = cases.filter(({ verdict }) => verdict !== "failing");
  const vacuous = cases.filter(({ verdict }) => verdict === "vacuous");
  const failing = cases.filter(({ verdict }) => verdict === "failing");
  const width = Math.max(...MUTATIONS.map((mutation) => mutation.length));
  return [
    `assertion sets: ${tried.length} tried, ${vacuous.length} vacuous`,
    ...MUTATIONS.map((mutation) => {
      const killed = tried.reduce((sum, each) => sum + each.killed[mutation].killed, 0);
      const total = tried.reduce((sum, each) => sum + each.killed[mutation].total, 0);
      return `  ${mutation.padEnd(width)}  ${killed} of ${total} noticed`;
    }),
    ...vacuous.map(({ suite, id }) => `  - ${suite} ${id} passes whatever is done to its trajectory`),
    ...failing.map(({ suite, id }) => `  - ${suite} ${id} does not pass as it is, so nothing was tried`),
    cases.length > 0 && vacuous.length + failing.length === 0 ? "VACUITY: PASS" : "VACUITY: FAIL",
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Whether every assertion set bites. */
export function allBite(cases: readonly CaseVacuity[]): boolean {
  return cases.length > 0 && cases.every(({ verdict }) => verdict === "bites");
}
