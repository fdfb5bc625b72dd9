import type { ReconcileOutcome } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import type { RunRow } from "../../journal/index.ts";
import type { SignedIn } from "../deps.ts";
import { HttpProblem } from "../http/problem.ts";
import type { OperationContext } from "./context.ts";
import type { Reconciled, ReconcileRequest } from "./operation.ts";
import { checkMay, may, principalOf } from "./permission.ts";
import { appOfRun, isOwn, visibleRun } from "./run-access.ts";

/**
 * Records what a person found out about a call whose outcome nobody knew; the first word stands.
 *
 * Throws `BELAY_NOT_PERMITTED` for whoever may not, and whoever asked for the run in anybody's name;
 * `BELAY_CALL_NOT_IN_DOUBT` with the stored word when there is nothing to say any more.
 */
export async function reconcile(
  context: OperationContext,
  by: SignedIn,
  { runId, callId, outcome, value, note }: ReconcileRequest,
): Promise<Reconciled> {
  checkMay(by, "reconcile");
  const row = await visibleRun(context, by, runId);
  const refusal = refusalToReconcile(by, row);
  if (refusal !== undefined) throw new BelayError("BELAY_NOT_PERMITTED", refusal);
  const { tenant } = row;
  const reconciled = await appOfRun(context, row).harness.reconcile({
    ...{ run: { tenant, runId }, callId, outcome, note, by: principalOf(by) },
    ...(value === undefined ? {} : { value }),
  });
  if (reconciled.status !== "recorded") throw problemOf(reconciled, callId);
  return { run: { tenant, runId }, callId, outcome };
}

/** Why a person may not say what became of the calls of a run; undefined when they may. */
export function refusalToReconcile(by: SignedIn, row: RunRow): string | undefined {
  if (!may(by, "reconcile")) return `${by.person.id} has neither the role approver nor admin`;
  return isOwn(by, row) ? `${by.person.id} asked for this run; another person has to look` : undefined;
}

function problemOf(refused: Exclude<ReconcileOutcome, { status: "recorded" }>, callId: string): BelayError {
  switch (refused.status) {
    case "already_reconciled": {
      const { outcome, by, at, note } = refused;
      return new HttpProblem(
        "BELAY_CALL_NOT_IN_DOUBT",
        `${by.id} has said already that it ${outcome === "happened" ? "happened" : "did not happen"}; the first word stands`,
        { members: { reconciled: { outcome, by, at, note } } },
      );
    }
    case "not_in_doubt":
      return new BelayError(
        "BELAY_CALL_NOT_IN_DOUBT",
        `what became of the call ${callId} is known; nothing was changed`,
      );
    case "unknown_call":
      return new BelayError("BELAY_CALL_UNKNOWN", `the run has no call ${callId}; see GET /v1/runs/{id}`);
    case "unknown_run":
      return new BelayError("BELAY_RUN_UNKNOWN", "there is no such run here; see GET /v1/runs");
    case "not_permitted":
      return new BelayError("BELAY_NOT_PERMITTED", refused.reason);
  }
}
