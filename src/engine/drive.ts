import { type CallState, type Effect, effectsOf, findCall, type RunEvent, wallClockLimit } from "../core/index.ts";
import { requestApproval } from "./ask.ts";
import { isThenable } from "./bounded.ts";
import { type PlannedCompaction, writeSummaries } from "./compact-step.ts";
import type { EngineContext } from "./context.ts";
import { executeCall, startCall } from "./execute-step.ts";
import { judgeCall, rejudgeCall } from "./judge.ts";
import { callModel, type OpenModelCall, openModelCall } from "./model-step.ts";
import { reservePoints } from "./points.ts";
import { recoverCall } from "./recover-step.ts";
import type { Session } from "./session.ts";
import { startNextRun } from "./start.ts";

export interface DriveOptions {
  /** Aborted: nothing new starts. What runs is waited for and recorded. */
  readonly stop: AbortSignal;
  /** Given to model calls; aborted when the worker stops or the run is cancelled. */
  readonly modelSignal: AbortSignal;
  /** Given to tools; aborted only when the run is cancelled. */
  readonly toolSignal: AbortSignal;
  readonly onDelta?: (text: string) => void;
}

/** What an effect in the background came to: events to record, with large values beside them. */
interface Finished {
  readonly key: string;
  readonly events: readonly RunEvent[];
  readonly blobs?: ReadonlyMap<string, string>;
  /** Nothing to record now; look again at this time. */
  readonly notBefore?: number;
  /** A further attempt of a call: recorded and begun like the first. */
  readonly restart?: CallStarted;
}

type CallStarted = Extract<RunEvent, { type: "call.started" }>;

interface Drive extends DriveOptions {
  readonly context: EngineContext;
  readonly session: Session;
  readonly inFlight: Map<string, Promise<Finished>>;
  /** Effects that may only begin once what is staged is durable. */
  readonly launches: (() => void)[];
  /** Calls that this worker started itself; any other started call was lost with its process. */
  readonly ownCalls: Set<string>;
  readonly postponed: Set<string>;
}

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
  const self: Drive = {
    ...options,
    context,
    session,
    inFlight: new Map(),
    launches: [],
    ownCalls: new Set(),
    postponed: new Set(),
  };
  let notBefore: number | undefined;
  for (;;) {
    const before = session.state;
    await settleStaged(self);
    if (self.inFlight.size > 0) {
      const finished = await Promise.race(self.inFlight.values());
      takeFinished(self, finished);
      notBefore = earliest(notBefore, finished.notBefore);
    } else if (options.stop.aborted || session.state === before) {
      // A lost race may have changed what the state implies; without any change there is nothing left to do.
      return notBefore === undefined ? {} : { notBefore };
    }
  }
}

/** Stages all that needs no waiting, makes it durable, and begins what was waiting for that. */
async function settleStaged(self: Drive): Promise<void> {
  if (!self.stop.aborted) while (stageNext(self));
  await self.session.flush();
  for (const launchNow of self.launches.splice(0)) launchNow();
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
      return launch(self, "start_next_run", async () => ({ events: await startNextRun(context, session) }));
  }
}

function stageAll(self: Drive, events: readonly RunEvent[]): boolean {
  return events.map((event) => self.session.stage(event)).includes(true);
}

/** Queues work that begins after the next flush, and blocks its effect until then. */
function launch(self: Drive, key: string, work: () => Promise<Omit<Finished, "key">>): boolean {
  self.inFlight.set(key, NEVER);
  self.launches.push(() => {
    self.inFlight.set(
      key,
      work().then((done) => ({ key, ...done })),
    );
  });
  return true;
}

const NEVER: Promise<never> = new Promise(() => undefined);

function beginModelCall(self: Drive): boolean {
  const { context, session } = self;
  const open: OpenModelCall | PlannedCompaction | undefined = openModelCall(context, session);
  if (open === undefined) return true;
  if ("plans" in open) {
    return launch(self, "call_model", async () => ({
      events: [await writeSummaries(context, session, open, self.modelSignal)],
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

function modelOptions({ modelSignal, onDelta }: Drive): { signal: AbortSignal; onDelta?: (text: string) => void } {
  return { signal: modelSignal, ...(onDelta === undefined ? {} : { onDelta }) };
}

function beginDecision(self: Drive, callId: string, recheck: boolean): boolean {
  const { context, session } = self;
  const call = findCall(session.state, callId);
  if (call === undefined) return false;
  const judged = recheck ? rejudgeCall(context, session, call) : judgeCall(context, session, call);
  if (!isThenable(judged)) return stageAll(self, judged);
  return launch(self, `decide_call ${callId}`, async () => ({ events: await judged }));
}

function beginCall(self: Drive, callId: string): boolean {
  const { context, session } = self;
  const call = findCall(session.state, callId);
  if (call === undefined) return false;
  const hit = wallClockLimit(session.state, context.clock.now());
  if (hit !== undefined) return session.stage({ type: "limit.reached", ...hit });
  for (const event of reservePoints(context, session, callId)) session.stage(event);
  if (findCall(session.state, callId)?.status === "settled") return true;
  if (call.call.effect === "read") return launchCall(self, callId, "allowed", 0);
  const event = startCall(context, session, call);
  if (!session.stage(event)) return false;
  return event.type === "call.started" ? launchCall(self, callId, "started", event.attempt) : true;
}

function launchCall(self: Drive, callId: string, status: CallState["status"], attempt: number): boolean {
  const { context, session } = self;
  return launch(self, `run ${callId}`, async () => {
    const call = findCall(session.state, callId);
    if (call?.status !== status || call.attempt !== attempt) return { events: [] };
    if (attempt > 0 && call.fence !== session.state.fence) return { events: [] };
    self.ownCalls.add(callId);
    const executed = await executeCall(context, session, call, self.toolSignal);
    if (executed.kind === "settled") return { events: [executed.settlement.event], ...blobsOf(executed.settlement) };
    // Taken up again by `finish_call` as one that may be repeated.
    self.ownCalls.delete(callId);
    return { events: [] };
  });
}

function beginRecovery(self: Drive, callId: string): boolean {
  const { context, session } = self;
  const key = `run ${callId}`;
  const call = findCall(session.state, callId);
  if (call === undefined || self.ownCalls.has(callId)) return false;
  return launch(self, key, async () => {
    const recovery = await recoverCall(context, session, call, self.toolSignal);
    switch (recovery.kind) {
      case "settle":
        return { events: [recovery.settlement.event], ...blobsOf(recovery.settlement) };
      case "wait":
        self.postponed.add(key);
        return { events: [], notBefore: recovery.notBefore };
      case "again":
        return { events: [], restart: recovery.event };
    }
  });
}

function blobsOf(settlement: { readonly blobs?: ReadonlyMap<string, string> }): {
  readonly blobs?: ReadonlyMap<string, string>;
} {
  return settlement.blobs === undefined ? {} : { blobs: settlement.blobs };
}
