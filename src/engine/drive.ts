import { type Effect, effectsOf, findCall, type RunEvent } from "../core/index.ts";
import { requestApproval } from "./ask.ts";
import { bounded, isThenable } from "./bounded.ts";
import type { PlannedCompaction } from "./compact-step.ts";
import type { EngineContext } from "./context.ts";
import { beginCall, beginRecovery, launchCall } from "./drive-calls.ts";
import { type Drive, type DriveOptions, type Finished, launch, NEVER } from "./drive-state.ts";
import { judgeCall, rejudgeCall } from "./judge.ts";
import { callModel, type OpenModelCall, openModelCall } from "./model-step.ts";
import { loadParts, partFor, parts } from "./parts.ts";
import { reservePoints } from "./points.ts";
import type { Session } from "./session.ts";

/**
 * Drives a run until it ends or nothing can be done without people or time.
 *
 * One loop: ask the state what it implies, stage what needs no waiting, make it durable, begin what may begin, wait
 * for the first to finish, stage what it says. Returns the time to look again, if any.
 */
export async function drive(
  context: EngineContext,
  session: Session,
  options: DriveOptions,
): Promise<{ readonly notBefore?: number }> {
  await loadParts(context.agent);
  const self: Drive = {
    ...options,
    context,
    session,
    inFlight: new Map(),
    launches: [],
    ownCalls: new Set(),
    postponed: new Set(),
    verified: new Set(),
    held: new Set(),
  };
  let notBefore: number | undefined;
  for (;;) {
    const before = session.state;
    try {
      await settleStaged(self);
    } catch (error) {
      await rescue(self);
      throw error;
    }
    if (self.inFlight.size > 0) {
      const finished = await Promise.race(self.inFlight.values());
      takeFinished(self, finished);
      notBefore = earliest(notBefore, finished.notBefore);
    } else if (!mayGoOn(self) || session.state === before) {
      // A lost race may have changed what the state implies; without any change there is nothing left to do.
      return notBefore === undefined ? {} : { notBefore };
    }
  }
}

/** Stages all that needs no waiting, makes it durable, and begins what was waiting for that. */
async function settleStaged(self: Drive): Promise<void> {
  if (mayGoOn(self)) while (stageNext(self));
  await self.session.flush();
  for (const launchNow of self.launches.splice(0)) launchNow();
}

/**
 * A commit failed while calls are running: what they come to must still be recorded, or a later worker would have to
 * guess. They are waited for and tried once more; if that fails too, recovery decides by their class.
 */
async function rescue(self: Drive): Promise<void> {
  self.launches.length = 0;
  const running = [...self.inFlight.values()].filter((work) => work !== NEVER);
  for (const finished of await Promise.all(running)) takeFinished(self, { ...finished, restart: undefined });
  try {
    await self.session.flush();
  } catch {
    // The store is still not there; the error that is thrown says so.
  }
}

/** A worker that was told to stop, or whose lease another one has taken, begins nothing more. */
function mayGoOn(self: Drive): boolean {
  const { termination, fence } = self.session.state;
  return !self.stop.aborted && (termination !== undefined || fence <= self.fence);
}

function takeFinished(self: Drive, finished: Finished): void {
  self.inFlight.delete(finished.key);
  for (const event of finished.events) self.session.stage(event, finished.blobs);
  if (finished.restart !== undefined && self.session.stage(finished.restart)) {
    launchCall(self, finished.restart.callId, "started", finished.restart.attempt);
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Stages or prepares the first effect that can be; `false` when there is none left. */
function stageNext(self: Drive): boolean {
  return effectsOf(self.session.state).some((effect) => !isBusy(self, effect) && begin(self, effect));
}

function isBusy(self: Drive, effect: Effect): boolean {
  const key = keyOf(effect);
  return self.inFlight.has(key) || self.postponed.has(key);
}

function keyOf(effect: Effect): string {
  switch (effect.type) {
    case "call_model":
    case "await_retry":
    case "end_run":
    case "start_next_run":
      return effect.type;
    case "settle_budget":
    case "release_budget":
      return effect.reservationId;
    case "start_call":
    case "finish_call":
      return `run ${effect.callId}`;
    default:
      return `${effect.type} ${effect.callId}`;
  }
}

/** Takes one effect up. `true` when the state changed or something will be launched, so effects must be asked again. */
function begin(self: Drive, effect: Effect): boolean {
  const { context, session } = self;
  switch (effect.type) {
    case "call_model":
      return beginModelCall(self);
    case "await_retry":
      return beginRetry(self, effect.notBefore);
    case "decide_call":
      return beginDecision(self, effect.callId, effect.recheck);
    case "request_approval":
      return stageAll(self, [
        // Held for this commit only: nobody is asked about a call that could not be paid for.
        ...reservePoints(context, session, effect.callId),
        ...requestApproval(context, session, effect.callId),
      ]);
    case "await_approval": {
      const { callId, approvalId, expiresAt } = effect;
      return context.clock.now() >= expiresAt && session.stage({ type: "approval.expired", callId, approvalId });
    }
    case "start_call":
      return beginCall(self, effect.callId);
    case "finish_call":
      return beginRecovery(self, effect.callId);
    case "settle_budget": {
      const { reservationId, budget, amount } = effect;
      return session.stage({ type: "budget.settled", reservationId, budget, amount });
    }
    case "release_budget": {
      const { reservationId, budget } = effect;
      return session.stage({ type: "budget.released", reservationId, budget });
    }
    case "end_run":
      return session.stage({ type: "run.ended", termination: effect.termination });
    case "start_next_run":
      return launch(self, "start_next_run", async () => ({
        events: await (await import("./next-run.ts")).startNextRun(context, session),
      }));
  }
}

function stageAll(self: Drive, events: readonly RunEvent[]): boolean {
  return events.map((event) => self.session.stage(event)).includes(true);
}

function beginModelCall(self: Drive): boolean {
  const { context, session } = self;
  const open: OpenModelCall | PlannedCompaction | undefined = openModelCall(context, session);
  if (open === undefined) return true;
  if ("plans" in open) {
    return launch(self, "call_model", async () => ({
      events: await partFor(parts.compaction).writeSummaries(context, session, open, self.modelSignal),
    }));
  }
  return launch(self, "call_model", async () => {
    // A lost race, or a shared budget that is used up, may have taken the request back.
    if (
      session.state.openRequest === undefined ||
      session.state.step !== open.step ||
      session.state.ending !== undefined
    ) {
      return { events: [] };
    }
    return { events: await callModel(context, session, open, modelOptions(self)) };
  });
}

/** A short wait is held by this process; a longer one ends the segment, and a wake comes. */
const RETRY_HOLD_MS_MAX = 10_000;

function beginRetry(self: Drive, notBefore: number): boolean {
  const waitMs = notBefore - self.context.clock.now();
  if (waitMs <= 0) return beginModelCall(self);
  // Held once: a clock that stands still must not turn this into a loop.
  if (waitMs > RETRY_HOLD_MS_MAX || self.held.has(notBefore)) return false;
  self.held.add(notBefore);
  return launch(self, "await_retry", async () => {
    // A timer may fire a moment early by the clock, which is looked at once more and then no more.
    await bounded(() => NEVER, { timeoutMs: waitMs + 1, signal: self.modelSignal });
    return { events: [] };
  });
}

function modelOptions({ modelSignal, onDelta }: Drive): { signal: AbortSignal; onDelta?: (text: string) => void } {
  return { signal: modelSignal, ...(onDelta === undefined ? {} : { onDelta }) };
}

function beginDecision(self: Drive, callId: string, recheck: boolean): boolean {
  const { context, session } = self;
  const call = findCall(session.state, callId);
  if (call === undefined) return false;
  const judged = recheck ? rejudgeCall(context, session, call) : judgeCall(context, session, call);
  if (!isThenable(judged)) return stageAll(self, judged);
  const key = `decide_call ${callId}`;
  return launch(self, key, async () => {
    // A rule that never answers must not hold up whoever cancels; it changes nothing, and is asked again if need be.
    const ended = await bounded(() => judged, { timeoutMs: Number.MAX_SAFE_INTEGER, signal: self.modelSignal });
    if (ended.status === "done") return { events: ended.value };
    if (ended.status === "failed") throw ended.error;
    self.postponed.add(key);
    return { events: [] };
  });
}
