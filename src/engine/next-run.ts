import type { RunEvent } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { memoryOf } from "./conversation.ts";
import type { Session } from "./session.ts";

/** Starts the run of the first queued message and hands it the rest of the queue; says so in the ended run. */
export async function startNextRun(context: EngineContext, session: Session): Promise<readonly RunEvent[]> {
  const { startedEvent } = context.kit;
  const { state, run } = session;
  const [first, ...rest] = state.queued;
  if (first === undefined || state.termination === undefined) return [];
  const at = Math.max(context.clock.now(), state.lastAt);
  const started = startedEvent(
    context,
    {
      tenant: run.tenant,
      conversationId: state.conversationId,
      principal: first.principal,
      ...(first.offeredTools === undefined ? {} : { offeredTools: first.offeredTools }),
    },
    first.text,
    await memoryOf(context, await context.store.conversation(run.tenant, state.conversationId)),
  );
  const entries = [
    { at, event: started },
    ...rest.map((message) => ({ at, event: { type: "message.queued", ...message } as const })),
  ];
  // The message's own id names a run that nobody else can have taken; it is the same after a crash.
  for (const runId of [first.nextRunId, `run_${first.messageId}`]) {
    const next: RunKey = { tenant: run.tenant, runId };
    const result = await context.store.commit({ run: next, head: 0, entries });
    if (result.status === "conflict" && !(await isFollower(context, next, started))) continue;
    await context.waker()?.wake({ run: next, why: "start", key: `${next.tenant}/${next.runId}:start` });
    return [{ type: "run.followed", nextRunId: runId }];
  }
  context.alarm({ code: "RUN_FAILED", run, detail: `message ${first.messageId} could not start a run of its own` });
  return [];
}

/** Whether a run that exists already is the one this message was to start, begun before a crash. */
async function isFollower(
  context: EngineContext,
  next: RunKey,
  started: Extract<RunEvent, { type: "run.started" }>,
): Promise<boolean> {
  const first = (await context.store.read(next))[0]?.event;
  return (
    first?.type === "run.started" &&
    first.conversationId === started.conversationId &&
    first.input === started.input &&
    first.principal.id === started.principal.id
  );
}
