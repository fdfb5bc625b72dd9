import type { Compaction, Filter, FormatToolError } from "../context/index.ts";
import type { AfterRefusal, JsonValue, Limits, Termination } from "../core/index.ts";
import type { Rule } from "../policy/index.ts";
import type { AnyTool, ToolExecutor } from "../tool/index.ts";
import type { PointsOptions } from "./points.ts";

export interface ApprovalOptions {
  /** Milliseconds until an unanswered question expires. Default 24 hours. */
  readonly ttlMs?: number;
  /** Default `tell_model`: the model gets the refusal as data and goes on. */
  readonly onReject?: AfterRefusal;
  readonly onExpiry?: AfterRefusal;
  readonly onWorldChanged?: AfterRefusal;
}

/** Limits as an application writes them: dollars instead of nano-dollars, every bound optional, and three that may be off. */
export type LimitOptions = Partial<Omit<Limits, "costNanoUsdMax" | "identicalCalls" | "cycles" | "invalidCallsMax">> & {
  /** US dollars per run. Needs a price for the model, or the run refuses to start. */
  readonly costUsdMax?: number;
  readonly identicalCalls?: Limits["identicalCalls"] | "off";
  readonly cycles?: Limits["cycles"] | "off";
  readonly invalidCallsMax?: number | "off";
};

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
  /** Points that calls cost, reserved before each call starts. Default: calls cost nothing. */
  readonly budget?: PointsOptions;
  /** Telemetry on the arguments of each call, recorded with it; it changes nothing. A rule may do more. */
  readonly inspectArguments?: (tool: string, args: JsonValue) => JsonValue | undefined;
  readonly approval?: ApprovalOptions;
  /** How older tool results make room, made by `compaction()` of `belay-harness/context`. Default: they stay. */
  readonly compaction?: Compaction;
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
