import type { CallState, Reconciliation } from "../core/index.ts";
import { timeText } from "./run-result.ts";

/** What became of a call, as the end of a sentence about it. */
export function wordOf(outcome: Reconciliation["outcome"]): string {
  return outcome === "happened" ? "happened" : "did not happen";
}

/** What `belay show` says of a call after its outcome. */
export function doubtText({ outcome, reconciled }: CallState): string | undefined {
  if (outcome?.status !== "unknown") {
    return undefined;
  }
  return reconciled === undefined
    ? "in doubt: find out, then belay reconcile"
    : `${wordOf(reconciled.outcome)}, said ${reconciled.by.id} at ${timeText(reconciled.at)}: ${reconciled.note}`;
}
