import type { CallState } from "../core/index.ts";
import type { Drive, Finished } from "./drive-state.ts";
import { lookUp, unknownOutcome } from "./indefinite.ts";
import { toolChangedEvent } from "./rejudge.ts";

/** After this many attempts a call that never leaves an outcome is given up as unknown. */
const ATTEMPTS_MAX = 10;

/** The far side could not be asked: ask again after this. */
const LOOKUP_AGAIN_MS = 30_000;

/**
 * What may be done about a call that was started by a process which is gone, by its recorded recovery class.
 *
 * Events to record, when the outcome was found or nobody will ever know it; `restart` to run the call again; `notBefore`
 * to look again then, because the earlier attempt may still be under way.
 */
export async function recoverCall(
  { context, session, toolSignal: signal, fence }: Drive,
  call: CallState,
): Promise<Omit<Finished, "key">> {
  const { finishedBy, settlementOf, startCall, startWithinMs } = context.kit;
  const { callId, tool } = call.call;
  const contract = context.contracts.get(tool);
  const unknown = (reason: string): Omit<Finished, "key"> => {
    context.alarm({ code: "OUTCOME_UNKNOWN", run: session.run, detail: `call ${callId}: ${reason}` });
    return { events: [{ type: "call.settled", callId, attempt: call.attempt, outcome: unknownOutcome(reason) }] };
  };
  if (contract === undefined) return unknown("the tool no longer exists");
  if (call.attempt >= ATTEMPTS_MAX) return unknown(`${ATTEMPTS_MAX} attempts left no outcome`);
  const restart = startCall(context, session, call, fence);
  if (restart.type !== "call.started") return unknown("the stored arguments are not those that were approved");
  if ((await toolChangedEvent(context, call)) !== undefined)
    return unknown("the tool changed after the call was started");
  const again = { events: [], restart };
  switch (call.recovery) {
    case "read":
    case "keyed":
      return again;
    case "queryable": {
      // Until then the earlier attempt may begin, and once begun it may last.
      const notBefore = (call.startedAt ?? 0) + (call.overAfterMs ?? startWithinMs(context) + contract.timeoutMs);
      if (context.clock.now() < notBefore) return { events: [], notBefore };
      const found = await lookUp(context, session, call, signal);
      if (found.status === "unavailable") return { events: [], notBefore: context.clock.now() + LOOKUP_AGAIN_MS };
      if (found.status === "absent") return again;
      const extra = { attempt: call.attempt, durationMs: 0 };
      return finishedBy(settlementOf(context, session, contract, callId, found.result, extra));
    }
    default:
      return unknown("the process died while the call was running");
  }
}
