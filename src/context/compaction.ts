import type { Message, Usage } from "../core/index.ts";
import type { ModelClient, ModelMessage, PriceTable } from "../model/index.ts";
import { reserveSummaries, summariseByModel } from "./summarise.ts";

/** Kept of a result's JSON, in characters. */
const SUMMARY_CHARACTERS = 160;
/** A result up to this length is left alone, in characters. */
const SMALL_CHARACTERS = 400;
const KEEP_TURNS_DEFAULT = 4;

/** One tool result that makes room, with the text that the model has seen until now. */
export interface CompactionPlan {
  readonly callId: string;
  readonly tool: string;
  /** The result without its untrusted wrapper. */
  readonly text: string;
  /** What stands in for it when no model writes a better one. */
  readonly summary: string;
}

export interface CompactionInput {
  readonly messages: readonly Message[];
  /** The same messages as the model reads them. */
  readonly shown: readonly ModelMessage[];
  /** Made earlier, by call id. */
  readonly summaries: Readonly<Record<string, string>>;
  /** Estimate of the whole prompt. */
  readonly tokens: number;
}

/** What the engine lends to a strategy that calls a model. */
export interface CompactionLoan {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly prices: PriceTable;
}

export interface CompactionReserve {
  readonly modelId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface WrittenSummaries {
  readonly summaries: readonly { readonly callId: string; readonly text: string }[];
  readonly usage: Usage;
  /** Absent when a price is unknown. */
  readonly costNanoUsd?: number;
}

/** When and how older tool results make room. The system prompt and the last turns always stay verbatim. */
export interface Compaction {
  /** The results to replace before the next model call; empty when the prompt may stay as it is. */
  plan(input: CompactionInput): readonly CompactionPlan[];
  /** The most that writing may use, reserved before; given together with `write`. */
  reserve?(plans: readonly CompactionPlan[]): CompactionReserve;
  /** Writes the summaries; absent: those of the plan are used. */
  write?(plans: readonly CompactionPlan[], loan: CompactionLoan): Promise<WrittenSummaries>;
}

export interface CompactionOptions {
  /** Estimated tokens of the prompt above which older results are summarised. */
  readonly tokenThreshold: number;
  /** Turns (a reply with its results) that stay verbatim. Default 4. */
  readonly keepTurns?: number;
  /** Asks this model for the summaries, without tools; default: the first 160 characters of each result. */
  readonly model?: ModelClient;
}

/**
 * The compaction strategy of an agent.
 *
 * Only the text of a result is ever replaced: no call is taken from its result. Nothing waits for a person while a
 * prompt is built, so a pending approval cannot be among them.
 */
export function compaction(options: CompactionOptions): Compaction {
  const { tokenThreshold, keepTurns = KEEP_TURNS_DEFAULT, model } = options;
  return {
    plan: (input) => (input.tokens > tokenThreshold ? planOf(input, keepTurns) : []),
    ...(model === undefined
      ? {}
      : {
          reserve: (plans) => reserveSummaries(model, plans),
          write: (plans, loan) => summariseByModel(model, plans, loan),
        }),
  };
}

function planOf({ messages, shown, summaries }: CompactionInput, keepTurns: number): readonly CompactionPlan[] {
  const turns = messages.flatMap((message, index) => (message.role === "assistant" ? [index] : []));
  const end = keepTurns >= turns.length ? 0 : (turns[turns.length - keepTurns] ?? messages.length);
  return shown.slice(0, end).flatMap((message) => {
    if (message.role !== "tool" || summaries[message.callId] !== undefined) return [];
    const text = unwrapped(message.text);
    if (text.length <= SMALL_CHARACTERS) return [];
    const { callId, tool } = message;
    return [{ callId, tool, text, summary: headOf(text) }];
  });
}

function headOf(text: string): string {
  const head = text.slice(0, SUMMARY_CHARACTERS).toWellFormed();
  return `[summarised by harness: first ${SUMMARY_CHARACTERS} of ${text.length} characters] ${head}`;
}

/** The wrapper is put on again when the summary is rendered. */
function unwrapped(text: string): string {
  const match = /^<untrusted source="[^"]*">(.*)<\/untrusted>$/s.exec(text);
  return match?.[1] === undefined
    ? text
    : match[1].replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
