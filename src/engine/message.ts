import type { RunState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { appendEvent } from "./append.ts";
import { checkStart } from "./check-start.ts";
import type { EngineContext } from "./context.ts";
import { checkOwner } from "./conversation.ts";
import type { MessageOutcome, StartOptions } from "./harness.ts";
import { startRun } from "./write-start.ts";

type MessageOptions = Omit<StartOptions, "conversationId">;

/**
 * Takes a message to a conversation: it starts a run, or waits behind the unfinished one.
 *
 * A waiting message is an event of the run before it, so it survives a restart, and it never answers an approval. Two
 * messages at once are taken one after the other, by a lease on the conversation.
 */
export async function sendMessage(
  context: EngineContext,
  conversationId: string,
  text: string,
  options: MessageOptions,
): Promise<MessageOutcome> {
  context.kit.checkInput(context, text);
  checkStart(context, { ...options, conversationId });
  const lock: RunKey = { tenant: options.tenant ?? "default", runId: `conversation ${conversationId}` };
  const owner = context.newId("msg");
  await lockConversation(context, lock, owner);
  try {
    const sent = await takeMessage(context, conversationId, text, options);
    const { run } = sent;
    const key = `${run.tenant}/${run.runId}:start`;
    if (sent.status === "started") await context.waker()?.wake({ run, why: "start", key });
    return sent;
  } finally {
    await context.store.releaseLease(lock, owner);
  }
}

async function lockConversation(context: EngineContext, lock: RunKey, owner: string): Promise<void> {
  await patiently(context, lock, async () => {
    const lease = await context.store.acquireLease(lock, owner, context.leaseMs, context.clock.now());
    return lease.status === "held";
  });
}

/** Tries again with growing pauses until it works, for as long as a dead worker may hold a lease. */
async function patiently(context: EngineContext, run: RunKey, attempt: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 2 * context.leaseMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(250, pauseMs * 2)) {
    if (await attempt()) return;
    if (performance.now() > until) {
      const { BelayError } = context.kit;
      throw new BelayError("BELAY_RUN_BUSY", `another worker holds ${run.runId}; send the message again in a moment`);
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function takeMessage(
  context: EngineContext,
  conversationId: string,
  text: string,
  options: MessageOptions,
): Promise<MessageOutcome> {
  const { ANONYMOUS, BelayError } = context.kit;
  const tenant = options.tenant ?? "default";
  let outcome: MessageOutcome | undefined;
  await patiently(context, { tenant, runId: conversationId }, async () => {
    const rows = await context.store.conversation(tenant, conversationId);
    checkOwner(context, rows, options.principal ?? ANONYMOUS);
    const last = rows.at(-1);
    if (last === undefined || (last.termination !== undefined && last.nextRunId === undefined)) {
      outcome = { status: "started", run: await startRun(context, text, { ...options, conversationId }) };
      return true;
    }
    outcome = await queueBehind(context, { tenant, runId: last.runId }, text, options);
    // The run has just ended with a message before this one; its follower appears as soon as it is advanced.
    if (outcome === undefined) await context.follow({ tenant, runId: last.runId });
    return outcome !== undefined;
  });
  if (outcome === undefined) throw new BelayError("BELAY_INTERNAL", "a message was neither queued nor started");
  return outcome;
}

async function queueBehind(
  context: EngineContext,
  behind: RunKey,
  text: string,
  options: MessageOptions,
): Promise<MessageOutcome | undefined> {
  const { ANONYMOUS, core } = context.kit;
  const state = core.fold(await context.store.read(behind));
  const known = options.runId === undefined ? undefined : await knownRun(context, behind, state, text, options.runId);
  if (known !== undefined) return known;
  await (await import("./check-queue.ts")).checkQueue(context, behind.tenant, options.runId);
  const nextRunId = options.runId ?? context.newId("run");
  const { offeredTools } = options;
  const appended = await appendEvent(context, behind, () => ({
    type: "message.queued",
    messageId: context.newId("msg"),
    text,
    principal: options.principal ?? ANONYMOUS,
    nextRunId,
    ...(offeredTools === undefined ? {} : { offeredTools }),
  }));
  if (appended.status !== "appended") return undefined;
  return { status: "queued", behind, run: { tenant: behind.tenant, runId: nextRunId } };
}

/** A message sent again under the same run id is the same message; another message under it is a mistake. */
async function knownRun(
  context: EngineContext,
  behind: RunKey,
  state: RunState | undefined,
  text: string,
  runId: string,
): Promise<MessageOutcome | undefined> {
  const run: RunKey = { tenant: behind.tenant, runId };
  const queued = state?.queued.find((message) => message.nextRunId === runId);
  if (queued?.text === text) return { status: "queued", behind, run };
  if (queued === undefined && (await context.store.run(run)) === undefined) return undefined;
  throw new context.kit.BelayError("BELAY_RUN_EXISTS", `run ${runId} exists and is another one; choose another run id`);
}
