import type { JsonValue, RunEvent } from "../core/index.ts";

/** What a person is shown of a call that waits for an answer. */
export interface CallFacts {
  readonly tool: string;
  readonly args: JsonValue;
  readonly code: string;
  readonly reason: string;
  readonly ruleId: string;
}

/**
 * Finds what an approval is about: the call's last decision and the reply that asked for the call.
 *
 * Reads backwards and stops at the reply, so the cost does not grow with the run. What the journal does not say is
 * shown as `unknown`: a question that cannot be explained must still be visible.
 */
export function callFacts(newestFirst: Iterable<RunEvent>, callId: string): CallFacts {
  let why = { code: "UNKNOWN", reason: "the journal holds no decision for this call", ruleId: "unknown" };
  let isDecided = false;
  for (const event of newestFirst) {
    if (event.type === "call.decided" && event.callId === callId && !isDecided) {
      const { code, reason, ruleId } = event.decision;
      why = { code, reason, ruleId };
      isDecided = true;
    }
    if (event.type === "model.replied" && event.output.kind === "calls") {
      const call = event.output.calls.find((candidate) => candidate.callId === callId);
      if (call !== undefined) {
        return { tool: call.tool, args: call.args, ...why };
      }
    }
  }
  return { tool: "unknown", args: null, ...why };
}
