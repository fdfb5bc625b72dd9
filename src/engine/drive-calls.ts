import { type CallState, findCall, wallClockLimit } from "../core/index.ts";
import { type Drive, launch } from "./drive-state.ts";
import { executeCall, startCall } from "./execute-step.ts";
import { finishedBy } from "./outcome.ts";
import { reservePoints } from "./points.ts";

/** Starts a call that is allowed: its intent is staged, and it runs once that is durable. */
export function beginCall(self: Drive, callId: string): boolean {
  const { context, session } = self;
  const call = findCall(session.state, callId);
  if (call === undefined) return false;
  if (call.step <= session.tools.foreignStep && !self.verified.has(callId)) return verifyTool(self, call);
  const hit = wallClockLimit(session.state, context.clock.now());
  if (hit !== undefined) return session.stage({ type: "limit.reached", ...hit });
  for (const event of reservePoints(context, session, callId)) session.stage(event);
  if (findCall(session.state, callId)?.status === "settled") return true;
  if (call.call.effect === "read") return launchCall(self, callId, "allowed", 0);
  const event = startCall(context, session, call, self.fence);
  if (!session.stage(event)) return false;
  return event.type === "call.started" ? launchCall(self, callId, "started", event.attempt) : true;
}

/** A call that was allowed under other tool contracts is checked before it starts. */
function verifyTool(self: Drive, call: CallState): boolean {
  const { callId } = call.call;
  self.verified.add(callId);
  return launch(self, `run ${callId}`, async () => {
    const { toolChangedEvent } = await import("./trouble.ts");
    const changed = await toolChangedEvent(self.context, call);
    return { events: changed === undefined ? [] : [changed] };
  });
}

/** Runs a call after the next flush, if it is still what it was when it was queued. */
export function launchCall(self: Drive, callId: string, status: CallState["status"], attempt: number): boolean {
  const { context, session } = self;
  return launch(self, `run ${callId}`, async () => {
    const call = findCall(session.state, callId);
    if (call?.status !== status || call.attempt !== attempt) return { events: [] };
    if (attempt > 0 && call.fence !== self.fence) return { events: [] };
    self.ownCalls.add(callId);
    const executed = await executeCall(context, session, call, self.toolSignal);
    if (executed.kind === "settled") return finishedBy(executed.settlement);
    // Taken up again by `finish_call` as one that may be repeated.
    self.ownCalls.delete(callId);
    return { events: [] };
  });
}

/** Takes up a call that was started by a process which is gone. */
export function beginRecovery(self: Drive, callId: string): boolean {
  const key = `run ${callId}`;
  const call = findCall(self.session.state, callId);
  if (call === undefined || self.ownCalls.has(callId)) return false;
  return launch(self, key, async () => {
    // Needed only after a crash, and loaded then.
    const found = await (await import("./trouble.ts")).recoverCall(self, call);
    if (found.notBefore !== undefined) self.postponed.add(key);
    return found;
  });
}
