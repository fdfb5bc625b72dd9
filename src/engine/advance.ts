import { effectsOf, type RunState } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { drive } from "./drive.ts";
import { openSession, type Session } from "./session.ts";

export interface AdvanceOptions {
  readonly signal?: AbortSignal;
  readonly onDelta?: (text: string) => void;
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
    if (!hasWork(context, session.state)) return { state: session.state, isBusy: false };
    const lease = await context.store.acquireLease(run, context.worker, context.leaseMs, context.clock.now());
    if (lease.status === "busy") return { state: session.state, isBusy: true };
    try {
      await session.refresh();
      await driveLeased(context, session, lease.fence, options, register);
    } finally {
      await context.store.releaseLease(run, context.worker);
    }
    const { head } = session;
    await session.refresh();
    if (session.head === head || options.signal?.aborted === true) return { state: session.state, isBusy: false };
  }
}

async function driveLeased(
  context: EngineContext,
  session: Session,
  fence: number,
  options: AdvanceOptions,
  register: (active: ActiveRun) => void,
): Promise<void> {
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
  const renewal = setInterval(() => renew(context, session.run, onStop), Math.max(1, Math.floor(context.leaseMs / 3)));
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
      ...(options.onDelta === undefined ? {} : { onDelta: options.onDelta }),
    });
    await sendWakes(context, session, notBefore);
  } finally {
    clearInterval(renewal);
    options.signal?.removeEventListener("abort", onStop);
  }
}

/** Keeps the lease; a worker that lost it starts nothing more. */
function renew(context: EngineContext, run: RunKey, onLost: () => void): void {
  context.store.acquireLease(run, context.worker, context.leaseMs, context.clock.now()).then(
    (lease) => {
      if (lease.status === "held") return;
      context.alarm({ code: "LEASE_LOST", run, detail: "another worker has taken the run over" });
      onLost();
    },
    (cause: unknown) => {
      context.alarm({ code: "LEASE_LOST", run, detail: "the lease could not be prolonged", cause });
      onLost();
    },
  );
}

/** Sends every wake-up that the state implies; sending one again is harmless. */
async function sendWakes(context: EngineContext, session: Session, notBefore: number | undefined): Promise<void> {
  const waker = context.waker();
  if (waker === undefined) return;
  const { run } = session;
  for (const effect of effectsOf(session.state)) {
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
  return effectsOf(state).some((effect) => effect.type !== "await_approval" || now >= effect.expiresAt);
}

function checkAgent(context: EngineContext, state: RunState, run: RunKey): void {
  if (state.agent.name === context.agent.name) return;
  throw new BelayError(
    "BELAY_RUN_OTHER_AGENT",
    `run ${run.runId} belongs to the agent ${state.agent.name}, not ${context.agent.name}; advance it with its own app`,
  );
}
