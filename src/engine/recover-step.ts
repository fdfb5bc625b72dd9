import type { CallState, RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import { lookUp, startCall } from "./execute-step.ts";
import { toolChangedEvent } from "./judge.ts";
import { type Settlement, settlementOf, unknownOutcome } from "./outcome.ts";
import type { Session } from "./session.ts";

/** After this many attempts a call that never leaves an outcome is given up as unknown. */
const ATTEMPTS_MAX = 10;

/** The far side could not be asked: ask again after this. */
const LOOKUP_AGAIN_MS = 30_000;

export type Recovery =
  /** Record this and run the call again. */
  | { readonly kind: "again"; readonly event: Extract<RunEvent, { type: "call.started" }> }
  /** The outcome was found, or nobody will ever know it. */
  | { readonly kind: "settle"; readonly settlement: Settlement }
  /** The earlier attempt may still be under way; look again at `notBefore`. */
  | { readonly kind: "wait"; readonly notBefore: number };

/** What may be done about a call that was started by a process which is gone, by its recorded recovery class. */
export async function recoverCall(
  context: EngineContext,
  session: Session,
  call: CallState,
  signal: AbortSignal,
  fence: number,
): Promise<Recovery> {
  const { callId, tool } = call.call;
  const contract = context.contracts.get(tool);
  const unknown = (reason: string): Recovery => {
    context.alarm({ code: "OUTCOME_UNKNOWN", run: session.run, detail: `call ${callId}: ${reason}` });
    return {
      kind: "settle",
      settlement: { event: { type: "call.settled", callId, attempt: call.attempt, outcome: unknownOutcome(reason) } },
    };
  };
  if (contract === undefined) return unknown("the tool no longer exists");
  if (call.attempt >= ATTEMPTS_MAX) return unknown(`${ATTEMPTS_MAX} attempts left no outcome`);
  const restart = startCall(context, session, call, fence);
  if (restart.type !== "call.started") return unknown("the stored arguments are not those that were approved");
  if ((await toolChangedEvent(context, call)) !== undefined)
    return unknown("the tool changed after the call was started");
  const again: Recovery = { kind: "again", event: restart };
  switch (call.recovery) {
    case "read":
    case "keyed":
      return again;
    case "queryable": {
      const notBefore = (call.startedAt ?? 0) + contract.timeoutMs;
      if (context.clock.now() < notBefore) return { kind: "wait", notBefore };
      const found = await lookUp(context, session, call, signal);
      if (found.status === "unavailable") return { kind: "wait", notBefore: context.clock.now() + LOOKUP_AGAIN_MS };
      if (found.status === "absent") return again;
      const extra = { attempt: call.attempt, durationMs: 0 };
      return { kind: "settle", settlement: settlementOf(context, session, contract, callId, found.result, extra) };
    }
    default:
      return unknown("the process died while the call was running");
  }
}
