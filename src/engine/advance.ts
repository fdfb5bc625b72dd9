import { effectsOf, type RunEvent, type RunState } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { Pause, RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { drive } from "./drive.ts";
import { pauseOf, untilOf } from "./pause.ts";
import { foundSession, openSession, type Session } from "./session.ts";

export interface AdvanceOptions {
  readonly signal?: AbortSignal;
  readonly onDelta?: (text: string) => void;
  /** Does not wait for its turn: a cancellation must not stand behind the runs that it is to make room for. */
  readonly isUrgent?: boolean;
}

/** A run that this process is driving; `cancel` reaches what is in flight at once. */
export interface ActiveRun {
  cancel(): void;
}

export interface Advanced {
  readonly state: RunState;
  readonly isBusy: boolean;
}

/**
 * Goes on with a run: lease, fold, drive, release, and once more if somebody wrote meanwhile.
 *
 * A decision that arrives between the last look and the release would otherwise wait for nobody: its writer finds the
 * lease taken and this worker has stopped looking.
 */
export async function advanceRun(
  context: EngineContext,
  run: RunKey,
  options: AdvanceOptions,
  register: (active: ActiveRun) => void,
): Promise<Advanced> {
  for (;;) {
    const session = await openSession(context, run);
    checkAgent(context, session.state, run);
    if (isStopped(options)) return { state: session.state, isBusy: false };
    if (!hasWork(context, session.state)) {
      // A process that died between its last commit and the wake has sent none.
      await sendWakes(context, session, undefined);
      return { state: session.state, isBusy: false };
    }
    if (asksOther(context, session.state)) {
      (await import("./other-model.ts")).refuseOtherModel(context, run, session.state);
    }
    const advanced = await driveOnce(context, session, options, register);
    if (advanced !== undefined) return advanced;
  }
}

/**
 * Begins a new run and drives it: what follows at once from its first events is in one commit with them.
 *
 * The lease is taken before there is a run, so that from its first moment no other worker can take it up. `undefined`:
 * the name is taken, and nothing was written.
 */
export async function beginRun(
  context: EngineContext,
  run: RunKey,
  first: readonly RunEvent[],
  options: AdvanceOptions,
  register: (active: ActiveRun) => void,
): Promise<Advanced | undefined> {
  const session = foundSession(context, run, first);
  try {
    const advanced = await driveOnce(context, session, options, register);
    if (advanced === undefined) return await advanceRun(context, run, options, register);
    return advanced.isBusy ? undefined : advanced;
  } catch (error) {
    if (session.head === 0 && error instanceof BelayError && error.code === "BELAY_RUN_EXISTS") return undefined;
    throw error;
  }
}

/** Drives a run under one lease; `undefined` when somebody wrote meanwhile, and it is to be looked at again. */
async function driveOnce(
  context: EngineContext,
  session: Session,
  options: AdvanceOptions,
  register: (active: ActiveRun) => void,
): Promise<Advanced | undefined> {
  const { run } = session;
  const lease = await context.store.acquireLease(run, context.worker, context.leaseMs, context.clock.now());
  if (lease.status === "busy") return { state: session.state, isBusy: true };
  let pause: Pause | undefined;
  let isLost: boolean;
  try {
    if (session.head > 0) await session.refresh();
    isLost = await driveLeased(context, session, lease.fence, options, register);
    pause = pauseOf(session.state, session.head);
  } finally {
    await context.store.releaseLease(run, context.worker, pause);
  }
  const { head } = session;
  await session.refresh();
  // Left to whoever took it over, under way or dead: two workers that took it from each other again would never end.
  const isTaken = isLost || session.state.fence > lease.fence;
  if (isTaken) return { state: session.state, isBusy: isStopped(options) || hasWork(context, session.state) };
  return session.head === head || isStopped(options) ? { state: session.state, isBusy: false } : undefined;
}

function isStopped({ signal }: AdvanceOptions): boolean {
  return signal?.aborted === true;
}

/** Drives until there is nothing to do or the lease is lost; `true` for that. */
async function driveLeased(
  context: EngineContext,
  session: Session,
  fence: number,
  options: AdvanceOptions,
  register: (active: ActiveRun) => void,
): Promise<boolean> {
  const stop = new AbortController();
  const model = new AbortController();
  const tools = new AbortController();
  const onStop = (): void => {
    stop.abort();
    model.abort();
  };
  options.signal?.addEventListener("abort", onStop, { once: true });
  if (options.signal?.aborted === true) onStop();
  register({
    cancel() {
      model.abort();
      tools.abort();
    },
  });
  let isLost = false;
  const onLost = (): void => {
    isLost = true;
    clearInterval(renewal);
    onStop();
  };
  const renewal = setInterval(
    () => renew(context, session, fence, onLost),
    Math.max(1, Math.floor(context.leaseMs / 3)),
  );
  try {
    const { stamp } = context;
    const known = session.state.agent;
    if (known.toolsHash !== stamp.toolsHash) session.tools.foreignStep = session.state.step;
    const isSameAgent =
      known.revision === stamp.revision && known.policyHash === stamp.policyHash && known.toolsHash === stamp.toolsHash;
    session.stage({ type: "segment.started", worker: context.worker, fence, ...(isSameAgent ? {} : { agent: stamp }) });
    const { notBefore } = await drive(context, session, {
      fence,
      stop: stop.signal,
      modelSignal: model.signal,
      toolSignal: tools.signal,
      ...listenerOf(context, session.run, options),
    });
    await sendWakes(context, session, notBefore);
    return isLost;
  } finally {
    clearInterval(renewal);
    options.signal?.removeEventListener("abort", onStop);
  }
}

/** Who asked for this and who listens to the whole harness both hear each piece. */
function listenerOf({ onDelta: all }: EngineContext, run: RunKey, { onDelta }: AdvanceOptions): AdvanceOptions {
  if (all === undefined) return onDelta === undefined ? {} : { onDelta };
  return {
    onDelta(text) {
      onDelta?.(text);
      try {
        all(run, text);
      } catch {
        // A hook that fails must not fail the call that it was told of.
      }
    },
  };
}

/** Keeps the lease; a worker that lost it starts nothing more. */
function renew(context: EngineContext, { run, head }: Session, fence: number, onLost: () => void): void {
  keepLease(context, run, fence, head).then(
    (isKept) => {
      if (isKept) return;
      context.alarm({ code: "LEASE_LOST", run, detail: "another worker has taken the run over" });
      onLost();
    },
    (cause: unknown) => {
      context.alarm({ code: "LEASE_LOST", run, detail: "the lease could not be prolonged", cause });
      onLost();
    },
  );
}

/** Takes an own lease that had run out again, unless somebody has worked on the run since `head`. */
async function keepLease(context: EngineContext, run: RunKey, fence: number, head: number): Promise<boolean> {
  const lease = await context.store.acquireLease(run, context.worker, context.leaseMs, context.clock.now());
  if (lease.status === "busy" || lease.fence === fence) return lease.status === "held";
  const newer = await context.store.read(run, head);
  return !newer.some(({ event }) => event.type === "segment.started" && event.worker !== context.worker);
}

/** Sends every wake-up that the state implies; sending one again is harmless. */
async function sendWakes(context: EngineContext, session: Session, lookAgainAt: number | undefined): Promise<void> {
  let notBefore = lookAgainAt;
  const waker = context.waker();
  if (waker === undefined) return;
  const { run } = session;
  for (const effect of effectsOf(session.state)) {
    if (effect.type === "await_retry") notBefore = Math.min(notBefore ?? effect.notBefore, effect.notBefore);
    if (effect.type !== "await_approval") continue;
    const key = `${run.tenant}/${effect.approvalId}:expiry`;
    await waker.wake({ run, why: "expiry", key, notBefore: effect.expiresAt });
  }
  if (notBefore !== undefined) {
    await waker.wake({ run, why: "retry", key: `${run.tenant}/${run.runId}:${session.head}:retry`, notBefore });
  }
}

/** Whether the state implies anything but waiting for people. */
function hasWork(context: EngineContext, state: RunState): boolean {
  const now = context.clock.now();
  return effectsOf(state).some((effect) => now >= (untilOf(effect) ?? 0));
}

/** Whether the run would be asked on under another model. One that only has to be ended asks nobody. */
function asksOther({ model, allowOtherModel }: EngineContext, state: RunState): boolean {
  if (allowOtherModel || state.ending !== undefined || state.termination !== undefined) return false;
  return state.model !== undefined && state.model !== model.id;
}

function checkAgent(context: EngineContext, state: RunState, run: RunKey): void {
  if (state.agent.name === context.agent.name) return;
  throw new BelayError(
    "BELAY_RUN_OTHER_AGENT",
    `run ${run.runId} belongs to the agent ${state.agent.name}, not ${context.agent.name}; advance it with its own app`,
  );
}
