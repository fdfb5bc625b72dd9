import { type JsonValue, parseStrictJson } from "../core/index.ts";
import type { AgentRun } from "./agent-outcome.ts";
import type { CaseCall } from "./case-calls.ts";

/** A span as far as metrics look at it; every tracer's record fits, and no order is needed. */
export interface SpanLike {
  readonly parentSpanId?: string;
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** What the spans of one run tell of it, for the same metrics as the run itself. */
export interface SpanRun extends Omit<AgentRun, "stop"> {
  /** Code of the termination; the agent's own word for it is not in spans. */
  readonly termination?: string;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

// The attributes of the semantic conventions for generative AI, and our own, as the tracer writes them.
const TOOL_NAME = "gen_ai.tool.name";
const TOOL_ARGUMENTS = "gen_ai.tool.call.arguments";
const OUTPUT_MESSAGES = "gen_ai.output.messages";
const INPUT_TOKENS = "gen_ai.usage.input_tokens";
const OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
const ERROR_TYPE = "error.type";
const CALL_INDEX = "belay.call.index";
const CALL_STEP = "belay.call.step";
const DISPOSITION = "belay.call.disposition";
const TERMINATION = "belay.run.termination";
const PURPOSE = "belay.chat.purpose";
const TOKENS_BEFORE = "belay.compaction.tokens_before";

/**
 * Reads a run from its spans, which must have been made with their content captured.
 *
 * `codes` are the agent's own names of codes, as for the run. Arguments that the tracer had to cut are `null`.
 */
export function agentRunFromSpans(spans: readonly SpanLike[], codes: Readonly<Record<string, string>> = {}): SpanRun {
  const calls = spans
    .filter(({ attributes }) => attributes[CALL_INDEX] !== undefined)
    .sort((one, other) => Number(one.attributes[CALL_INDEX]) - Number(other.attributes[CALL_INDEX]))
    .map((span) => callOf(span, codes));
  const replies = spans.filter(
    ({ attributes }) => attributes[INPUT_TOKENS] !== undefined && attributes[PURPOSE] === undefined,
  );
  const termination = spans.find(({ parentSpanId }) => parentSpanId === undefined)?.attributes[TERMINATION];
  const answer = termination === "completed" ? replies.map(finalText).find((text) => text !== undefined) : undefined;
  const total = (name: string): number => replies.reduce((sum, { attributes }) => sum + Number(attributes[name]), 0);
  return {
    calls,
    isCompleted: termination === "completed",
    ...(typeof termination === "string" && { termination }),
    ...(answer !== undefined && { answer }),
    compactions: spans.filter(({ attributes }) => attributes[TOKENS_BEFORE] !== undefined).length,
    modelCalls: replies.length,
    inputTokens: total(INPUT_TOKENS),
    outputTokens: total(OUTPUT_TOKENS),
  };
}

function callOf({ attributes }: SpanLike, codes: Readonly<Record<string, string>>): CaseCall {
  const code = attributes[ERROR_TYPE];
  const args = parseStrictJson(String(attributes[TOOL_ARGUMENTS] ?? ""));
  return {
    step: Number(attributes[CALL_STEP]),
    tool: String(attributes[TOOL_NAME] ?? ""),
    args: args.ok ? args.value : null,
    status: statusOf(attributes[DISPOSITION]),
    ...(typeof code === "string" && { code: (Object.hasOwn(codes, code) ? codes[code] : undefined) ?? code }),
  };
}

function statusOf(disposition: unknown): CaseCall["status"] {
  switch (disposition) {
    case "executed":
    case "invalid":
    case "blocked":
      return disposition;
    case "denied":
      return "blocked";
    default:
      return "not_run";
  }
}

/** The text of a reply that asks for no tool. */
function finalText({ attributes }: SpanLike): string | undefined {
  const parsed = parseStrictJson(String(attributes[OUTPUT_MESSAGES] ?? ""));
  const parts = parsed.ok ? partsOf(parsed.value) : [];
  const [part] = parts;
  return parts.length === 1 && part?.["type"] === "text" && typeof part["content"] === "string"
    ? part["content"]
    : undefined;
}

function partsOf(messages: JsonValue): readonly Readonly<Record<string, JsonValue>>[] {
  const [message] = Array.isArray(messages) ? (messages as readonly JsonValue[]) : [];
  const parts = isObject(message) ? message["parts"] : undefined;
  return Array.isArray(parts) ? (parts as readonly JsonValue[]).filter(isObject) : [];
}

function isObject(value: JsonValue | undefined): value is { readonly [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
