import type { Filter, FormatToolError } from "../context/index.ts";
import type { AfterRefusal, Limits, Termination } from "../core/index.ts";
import type { ModelClient } from "../model/index.ts";
import type { Rule } from "../policy/index.ts";
import type { AnyTool, ToolExecutor } from "../tool/index.ts";

export interface ApprovalOptions {
  /** Milliseconds until an unanswered question expires. Default 24 hours. */
  readonly ttlMs?: number;
  /** Default `tell_model`: the model gets the refusal as data and goes on. */
  readonly onReject?: AfterRefusal;
  readonly onExpiry?: AfterRefusal;
  readonly onWorldChanged?: AfterRefusal;
}

/** Limits as an application writes them: dollars instead of nano-dollars, and every bound optional. */
export type LimitOptions = Partial<Omit<Limits, "costNanoUsdMax">> & {
  /** US dollars per run. Needs a price for the model, or the run refuses to start. */
  readonly costUsdMax?: number;
};

/** When and how older tool results make room. The system prompt and the last turns always stay verbatim. */
export interface CompactionOptions {
  /** Estimated tokens of the prompt above which older results are summarised. */
  readonly tokenThreshold: number;
  /** Turns (a reply with its results) that stay verbatim. Default 4. */
  readonly keepTurns?: number;
  /** Asks this model for the summaries, without tools; default: the first 160 characters of each result. */
  readonly model?: ModelClient;
}

/** An agent: what the model is told, what it may do, and within which bounds. */
export interface Agent {
  readonly name: string;
  /** Version of the agent's rules and prompt; recorded with each run and pinned by each approval. */
  readonly revision: string;
  readonly instructions: string;
  readonly tools: readonly AnyTool[];
  /** Wraps the in-process executor of `tools`, or replaces it. */
  readonly executor?: (inner: ToolExecutor) => ToolExecutor;
  /** Judged in this order. Empty: only reads run. */
  readonly rules: readonly Rule[];
  readonly filters?: readonly Filter[];
  readonly limits?: LimitOptions;
  readonly approval?: ApprovalOptions;
  /** Default: nothing is compacted. */
  readonly compaction?: CompactionOptions;
  readonly temperature?: number;
  /** Longest user message, in characters. Default 4,000. */
  readonly inputCharactersMax?: number;
  /** Earlier turns of the conversation that the model sees. Default 0. */
  readonly memoryTurnsMax?: number;
  /** How the app speaks of its terminations; default `terminationCode`. */
  readonly label?: (termination: Termination) => string;
  /** How the app names decision codes of the harness (`unknown_tool`, `invalid_arguments`, …). */
  readonly codes?: Readonly<Record<string, string>>;
  /** Default `{ error: code, message, …details }`. */
  readonly formatToolError?: FormatToolError;
  /** Runs a synchronous function in one transaction of the world; required by `inTransaction` tools. */
  readonly transaction?: <Value>(work: () => Value) => Value;
}

export function defineAgent(agent: Agent): Agent {
  return agent;
}
