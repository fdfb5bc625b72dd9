import { BelayError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import type { RunKey, RunRow } from "../../journal/index.ts";
import type { ServedApp, SignedIn } from "../deps.ts";
import { markedRunId } from "../people/starter-mark.ts";
import type { OperationContext } from "./context.ts";
import { idsOfKey } from "./idempotency.ts";
import type { SendMessageRequest, SentMessage } from "./operation.ts";
import { checkMay } from "./permission.ts";
import { appOfRun, visibleRun } from "./run-access.ts";
import { checkMessages, conflict } from "./start-run.ts";

/** Most messages that wait behind one run. */
const QUEUED_MAX = 20;

/**
 * Sends a message to the conversation of a run, in the name of whom the run works for.
 *
 * It is words only: it never answers an approval. The same key with the same text is taken once; two requests with one
 * key at the same moment are told apart within one process.
 */
export async function sendMessage(
  context: OperationContext,
  by: SignedIn,
  request: SendMessageRequest,
): Promise<SentMessage> {
  checkMay(by, "operate");
  const row = await visibleRun(context, by, request.runId);
  const app = appOfRun(context, row);
  const key = request.idempotencyKey;
  const ownId = key === undefined ? newId("run", context.clock.now()) : idsOfKey(by, key, "message").runId;
  const runId = markedRunId(ownId, by);
  const next: RunKey = { tenant: by.tenant, runId };
  return inTurn(context, `${next.tenant}:${runId}`, async () => {
    const known = key === undefined ? undefined : await knownMessage(context, app, row, next, request.text);
    if (known !== undefined) return known;
    await checkMessages(context, by.tenant, row.conversationId);
    return send(context, app, row, next, request.text);
  });
}

async function send(
  context: OperationContext,
  { harness }: ServedApp,
  { conversationId, principal }: RunRow,
  next: RunKey,
  text: string,
): Promise<SentMessage> {
  const options = { ...next, principal };
  const last = (await context.store.conversation(next.tenant, conversationId)).at(-1);
  if (last !== undefined && last.termination !== undefined && last.nextRunId === undefined) {
    try {
      return { status: "started", run: await harness.start(text, { ...options, conversationId }), isReplay: false };
    } catch (error) {
      // Somebody else was faster; then this one waits.
      if (!(error instanceof BelayError && error.code === "BELAY_CONVERSATION_BUSY")) throw error;
    }
  }
  const queued = last === undefined ? 0 : ((await harness.state(last))?.queued.length ?? 0);
  if (queued >= QUEUED_MAX) {
    throw new BelayError("BELAY_MESSAGE_CAP", `${queued} messages wait already; wait until the run has ended`);
  }
  const sent = await harness.message(conversationId, text, options);
  // `message` wakes nobody when it starts a run itself.
  if (sent.status === "started") context.live.drive(harness, sent.run);
  return { ...sent, isReplay: false };
}

async function knownMessage(
  { store }: OperationContext,
  { harness }: ServedApp,
  { conversationId }: RunRow,
  next: RunKey,
  text: string,
): Promise<SentMessage | undefined> {
  const first = (await store.read(next))[0]?.event;
  if (first?.type === "run.started") {
    if (first.input !== text || first.conversationId !== conversationId) throw conflict();
    return { status: "started", run: next, isReplay: true };
  }
  for (const behind of await store.conversation(next.tenant, conversationId)) {
    if (behind.termination !== undefined && behind.nextRunId === undefined) continue;
    const waiting = (await harness.state(behind))?.queued.find(({ nextRunId }) => nextRunId === next.runId);
    if (waiting === undefined) continue;
    if (waiting.text !== text) throw conflict();
    const { tenant, runId } = behind;
    return { status: "queued", run: next, behind: { tenant, runId }, isReplay: true };
  }
  return undefined;
}

const turns = new WeakMap<OperationContext, Map<string, Promise<unknown>>>();

/** One at a time for each key: asking whether a message is known and sending it must not be done by two at once. */
async function inTurn<Value>(context: OperationContext, key: string, work: () => Promise<Value>): Promise<Value> {
  const waiting = turns.get(context) ?? new Map<string, Promise<unknown>>();
  turns.set(context, waiting);
  for (let other = waiting.get(key); other !== undefined; other = waiting.get(key)) await other;
  const done = work();
  const settled = done.catch(() => undefined);
  waiting.set(key, settled);
  try {
    return await done;
  } finally {
    if (waiting.get(key) === settled) waiting.delete(key);
  }
}
