import { type MemoryTurn, type Principal, type RunState, terminationCode } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunRow } from "../journal/index.ts";
import { printable } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";

/** Longest text of an earlier turn that is remembered, in characters; memory is a hint and never a record. */
const REMEMBERED_CHARACTERS_MAX = 2000;

/** A conversation is one principal's. Throws BELAY_CONVERSATION_FOREIGN. */
export function checkOwner(earlier: readonly RunRow[], principal: Principal): void {
  const last = earlier.at(-1);
  if (last === undefined || (last.principal.kind === principal.kind && last.principal.id === principal.id)) return;
  throw new BelayError(
    "BELAY_CONVERSATION_FOREIGN",
    `conversation ${last.conversationId} is not ${principal.kind} ${printable(principal.id, 64)}'s; start a new one`,
  );
}

/** One run of a conversation at a time. Throws BELAY_CONVERSATION_FOREIGN, BELAY_CONVERSATION_BUSY. */
export function checkConversation(earlier: readonly RunRow[], runId: string, principal: Principal): void {
  const last = earlier.at(-1);
  if (last === undefined || last.runId === runId) return;
  checkOwner(earlier, principal);
  if (last.termination !== undefined) return;
  throw new BelayError(
    "BELAY_CONVERSATION_BUSY",
    `run ${last.runId} of conversation ${last.conversationId} has not ended; send a message, which waits behind it`,
  );
}

/** The last turns of a conversation: words only, never facts. */
export function memoryOf(context: EngineContext, earlier: readonly RunRow[]): readonly MemoryTurn[] {
  const turnsMax = context.agent.memoryTurnsMax ?? 0;
  if (turnsMax === 0) return [];
  return earlier
    .filter((row) => row.termination !== undefined)
    .slice(-turnsMax)
    .map((row) => turnOf(row.input, row.answer, row.termination ?? ""));
}

/** What the next run remembers: what this one did, and this one. */
export function memoryAfter(context: EngineContext, state: RunState): readonly MemoryTurn[] {
  const turnsMax = context.agent.memoryTurnsMax ?? 0;
  if (turnsMax === 0 || state.termination === undefined) return [];
  return [...state.memory, turnOf(state.input, state.answer, terminationCode(state.termination))].slice(-turnsMax);
}

function turnOf(user: string, answer: string | undefined, ended: string): MemoryTurn {
  const cut = (text: string): string =>
    text.length <= REMEMBERED_CHARACTERS_MAX ? text : `${text.slice(0, REMEMBERED_CHARACTERS_MAX).toWellFormed()}…`;
  return { user: cut(user), assistant: cut(answer ?? `(ended without an answer: ${ended})`) };
}
