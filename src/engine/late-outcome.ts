import type { CallState, RunEvent } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { appendEvent } from "./append.ts";
import type { EngineContext } from "./context.ts";

/**
 * Records what a tool still did after the harness had stopped waiting for it.
 *
 * It changes no state: the run has gone on with "unknown". It is evidence for the person who has to find out.
 */
export async function recordLate(
  context: EngineContext,
  run: RunKey,
  call: CallState,
  settled: Extract<RunEvent, { type: "call.settled" }>,
): Promise<void> {
  if (call.attempt === 0) return;
  context.alarm({ code: "OUTCOME_DIFFERS", run, detail: `call ${call.call.callId} finished after it was given up` });
  const event: RunEvent = {
    type: "call.outcome_observed",
    callId: call.call.callId,
    attempt: call.attempt,
    outcome: settled.outcome,
    differs: true,
  };
  await appendEvent(context, run, () => event);
}
