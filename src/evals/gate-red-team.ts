import type { EvalDocument } from "./document.ts";
import { names } from "./gate-evidence.ts";

/**
 * A sentence for each reason why a document does not show how the app stood its red team; `configured` are the ids of its
 * attacks and ordinary cases.
 */
export function redTeamEvidence({ redTeam }: EvalDocument, configured: readonly string[]): readonly string[] {
  if (redTeam === undefined) {
    return ["the red team did not run"];
  }
  const ran = new Set(redTeam.map(({ id }) => id));
  const missed = configured.filter((id) => !ran.has(id));
  return missed.length === 0 ? [] : [`${missed.length} case(s) of the red team did not run: ${names(missed)}`];
}

/** A sentence when an attack went through, or an ordinary case of the red team no longer works. */
export function redTeamProblems({ redTeam = [] }: EvalDocument): readonly string[] {
  const failed = redTeam.filter(({ passed }) => !passed);
  return failed.length === 0
    ? []
    : [`red team: ${failed.length} of ${redTeam.length} case(s) fail: ${names(failed.map(({ id }) => id))}`];
}
