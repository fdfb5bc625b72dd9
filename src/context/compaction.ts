import type { Message } from "../core/index.ts";
import type { ModelMessage } from "../model/index.ts";

/** `summaryCharacters`: kept of a result's JSON. `smallCharacters`: a result up to this length is left alone. */
export const COMPACTION_DEFAULTS: {
  readonly keepTurns: number;
  readonly summaryCharacters: number;
  readonly smallCharacters: number;
} = { keepTurns: 4, summaryCharacters: 160, smallCharacters: 400 };

/** One tool result that may be summarised, with the text that the model has seen until now. */
export interface CompactionPlan {
  readonly callId: string;
  readonly tool: string;
  /** The result without its untrusted wrapper. */
  readonly text: string;
  readonly summary: string;
}

/**
 * Chooses the older tool results that make room, oldest first.
 *
 * Only the text of a result is ever replaced: no call is taken from its result, and the last `keepTurns` turns and
 * everything that is not a tool result stay as they are. Nothing waits for a person while a prompt is built, so a
 * pending approval cannot be among them.
 */
export function planCompaction(
  messages: readonly Message[],
  shown: readonly ModelMessage[],
  summaries: Readonly<Record<string, string>>,
  keepTurns: number,
): readonly CompactionPlan[] {
  const turns = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  const end = keepTurns >= turns.length ? 0 : (turns[turns.length - keepTurns] ?? messages.length);
  return shown.slice(0, end).flatMap((message) => {
    if (message.role !== "tool" || summaries[message.callId] !== undefined) return [];
    const text = unwrapped(message.text);
    if (text.length <= COMPACTION_DEFAULTS.smallCharacters) return [];
    const { callId, tool } = message;
    return [{ callId, tool, text, summary: headOf(text) }];
  });
}

function headOf(text: string): string {
  const head = text.slice(0, COMPACTION_DEFAULTS.summaryCharacters).toWellFormed();
  return `[summarised by harness: first ${COMPACTION_DEFAULTS.summaryCharacters} of ${text.length} characters] ${head}`;
}

/** The wrapper is put on again when the summary is rendered. */
function unwrapped(text: string): string {
  const match = /^<untrusted source="[^"]*">(.*)<\/untrusted>$/s.exec(text);
  return match?.[1] === undefined
    ? text
    : match[1].replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
