import type { ModelReply, ReportedUsage, RequestedCall } from "../../model/index.ts";
import { providerDataOf } from "./reasoning.ts";

/** What of an answer is read. Nothing is taken for granted, since what arrives is not checked by anybody else. */
interface Answer {
  readonly output?: { readonly message?: { readonly content?: unknown } };
  readonly stopReason?: unknown;
  readonly usage?: unknown;
}

/** The reply of the model, or nothing when the answer has not the form of one. */
export function readReply(answer: unknown, replyTokensMax: number): ModelReply | undefined {
  const { output, stopReason, usage } = asRecord(answer) as Answer;
  const content = output?.message?.content;
  if (!Array.isArray(content)) {
    return undefined;
  }
  const blocks: readonly Readonly<Record<string, unknown>>[] = content.map(asRecord);
  const text = blocks.map((block) => (typeof block["text"] === "string" ? block["text"] : "")).join("");
  const calls = blocks.flatMap((block) => (block["toolUse"] === undefined ? [] : [readCall(block["toolUse"])]));
  const reported = readUsage(usage);
  const outcome = readOutcome(stopReason, text, calls, replyTokensMax);
  const providerData = outcome.kind === "calls" ? providerDataOf(blocks) : undefined;
  return {
    ...outcome,
    ...(providerData !== undefined && { providerData }),
    ...(reported !== undefined && { usage: reported }),
  };
}

function readOutcome(
  stopReason: unknown,
  text: string,
  calls: readonly RequestedCall[],
  replyTokensMax: number,
): ModelReply {
  switch (stopReason) {
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
      return calls.length > 0 ? { kind: "calls", text, calls } : { kind: "final", text };
    case "max_tokens":
      // Half an answer must not pass for a whole one, and a call that was cut must not run.
      return unreadable(`Your reply was cut after ${replyTokensMax} tokens. Reply again and be shorter.`);
    case "model_context_window_exceeded":
      return unreadable("Your reply was cut at the end of your context window. Reply again and be shorter.");
    case "guardrail_intervened":
    case "content_filtered":
      // The text is the provider's own then; whatever calls stand beside it are not what was let through.
      return text.trim() === "" ? unreadable("Your reply was withheld by a content filter.") : { kind: "final", text };
    case "malformed_tool_use":
      return unreadable("Your call of a tool could not be read. Send it again with its arguments as one JSON object.");
    default:
      return unreadable("Your reply could not be read. Reply again.");
  }
}

function unreadable(problem: string): ModelReply {
  return { kind: "unreadable", problem };
}

/** A call with a bad name or bad input is passed on: the harness refuses it and tells the model why. */
function readCall(toolUse: unknown): RequestedCall {
  const { name, input } = asRecord(toolUse);
  return { tool: typeof name === "string" ? name : "", args: { json: input ?? null } };
}

/**
 * Tokens that were read from or written to a cache are input too, and the service counts them apart.
 *
 * A count that is not a number makes the whole side unknown, so that it is charged at the reservation.
 */
function readUsage(usage: unknown): ReportedUsage | undefined {
  if (typeof usage !== "object" || usage === null) {
    return undefined;
  }
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = asRecord(usage);
  const inputs = [inputTokens, cacheReadInputTokens ?? 0, cacheWriteInputTokens ?? 0];
  const input = inputs.every((count) => typeof count === "number")
    ? inputs.reduce((sum, count) => sum + count, 0)
    : undefined;
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(typeof cacheReadInputTokens === "number" && { cacheReadTokens: cacheReadInputTokens }),
    ...(typeof cacheWriteInputTokens === "number" && { cacheWriteTokens: cacheWriteInputTokens }),
    ...(typeof outputTokens === "number" && { outputTokens }),
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
