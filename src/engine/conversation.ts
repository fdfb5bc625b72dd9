import type { MemoryTurn, Principal } from "../core/index.ts";
import type { RunRow } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

/** Longest text of an earlier turn that is remembered, in characters; memory is a hint and never a record. */
const REMEMBERED_CHARACTERS_MAX = 2000;

/** A conversation is one principal's. Throws BELAY_CONVERSATION_FOREIGN. */
export function checkOwner({ kit }: EngineContext, earlier: readonly RunRow[], principal: Principal): void {
  const last = earlier.at(-1);
  if (last === undefined || (last.principal.kind === principal.kind && last.principal.id === principal.id)) return;
  throw new kit.BelayError(
    "BELAY_CONVERSATION_FOREIGN",
    `conversation ${last.conversationId} is not ${principal.kind} ${kit.printable(principal.id, 64)}'s; start a new one`,
  );
}

/**
 * What a new run of a conversation remembers of its turns `earlier`, after the checks that it may go on with it.
 *
 * Throws BELAY_CONVERSATION_FOREIGN, BELAY_CONVERSATION_BUSY.
 */
export async function goOn(
  context: EngineContext,
  earlier: readonly RunRow[],
  runId: string,
  principal: Principal,
): Promise<readonly MemoryTurn[]> {
  checkConversation(context, earlier, runId, principal);
  return await memoryOf(context, earlier);
}

/** One run of a conversation at a time. Throws BELAY_CONVERSATION_FOREIGN, BELAY_CONVERSATION_BUSY. */
function checkConversation(
  context: EngineContext,
  earlier: readonly RunRow[],
  runId: string,
  principal: Principal,
): void {
  const last = earlier.at(-1);
  // A run that is asked for again exists, wherever its conversation has got to; the caller looks whether it is the same.
  if (last === undefined || earlier.some((row) => row.runId === runId)) return;
  checkOwner(context, earlier, principal);
  if (last.termination !== undefined) return;
  throw new context.kit.BelayError(
    "BELAY_CONVERSATION_BUSY",
    `run ${last.runId} of conversation ${last.conversationId} has not ended; send a message, which waits behind it`,
  );
}

/** The last turns of a conversation: words only, never facts. */
export function memoryOf(context: EngineContext, earlier: readonly RunRow[]): Promise<readonly MemoryTurn[]> {
  const turnsMax = context.agent.memoryTurnsMax ?? 0;
  const ended = turnsMax === 0 ? [] : earlier.filter((row) => row.termination !== undefined).slice(-turnsMax);
  return Promise.all(ended.map((row) => turnOf(context, row)));
}

async function turnOf(context: EngineContext, row: RunRow): Promise<MemoryTurn> {
  const cut = (text: string): string =>
    text.length <= REMEMBERED_CHARACTERS_MAX ? text : `${text.slice(0, REMEMBERED_CHARACTERS_MAX).toWellFormed()}…`;
  const { input, answer, termination = "", status } = row;
  // Only a run that failed can have left a call in doubt; what people found out since is in its journal.
  const doubts = status === "failed" ? await (await import("./doubts.ts")).doubtsOf(context, row) : undefined;
  return { user: cut(input), assistant: cut(answer ?? `(ended without an answer: ${doubts ?? termination})`) };
}
