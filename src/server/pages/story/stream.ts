import type { RunRow } from "../../../journal/index.ts";

/** Names of the journal's events, for a stream that names them. */
const EVENT_NAMES = [
  ...["run.started", "segment.started", "model.requested", "model.replied", "model.failed", "context.compacted"],
  ...["limit.reached", "call.decided", "approval.requested", "approval.resolved", "approval.expired", "call.started"],
  ...["call.settled", "call.outcome_observed", "budget.reserved", "budget.settled", "budget.released"],
  ...["message.queued", "run.cancel_requested", "run.ended", "run.followed"],
];

/** Attributes by which a region follows a run from its entry `after` on. */
export function streamAttributes(run: RunRow, after: number): Readonly<Record<string, string>> {
  return {
    "data-live": `/v1/runs/${encodeURIComponent(run.runId)}/events?after=${after}`,
    "data-events": EVENT_NAMES.join(" "),
  };
}
