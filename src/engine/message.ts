import type { RunKey } from "../journal/index.ts";
import { appendEvent } from "./append.ts";
import type { EngineContext } from "./context.ts";
import type { MessageOutcome, StartOptions } from "./harness.ts";
import { ANONYMOUS, checkConversation, checkInput, startRun } from "./start.ts";

/**
 * Takes a message to a conversation: it starts a run, or waits behind the unfinished one.
 *
 * A waiting message is an event of the run before it, so it survives a restart, and it never answers an approval.
 */
export async function sendMessage(
  context: EngineContext,
  conversationId: string,
  text: string,
  options: Omit<StartOptions, "conversationId">,
): Promise<MessageOutcome> {
  checkInput(context, text);
  const tenant = options.tenant ?? "default";
  for (;;) {
    const rows = await context.store.conversation(tenant, conversationId);
    const last = rows.at(-1);
    if (last === undefined || (last.termination !== undefined && last.nextRunId === undefined)) {
      return { status: "started", run: await startRun(context, text, { ...options, conversationId }) };
    }
    checkConversation(rows, { tenant, runId: "" }, options.principal ?? ANONYMOUS, "may_be_busy");
    const behind: RunKey = { tenant, runId: last.runId };
    const nextRunId = options.runId ?? context.newId("run");
    const appended = await appendEvent(context, behind, () => ({
      type: "message.queued",
      messageId: context.newId("msg"),
      text,
      principal: options.principal ?? ANONYMOUS,
      nextRunId,
    }));
    if (appended.status === "appended") return { status: "queued", behind, run: { tenant, runId: nextRunId } };
    // The run has just ended. With a message before this one, its follower appears as soon as it is advanced.
    await context.follow(behind);
  }
}
