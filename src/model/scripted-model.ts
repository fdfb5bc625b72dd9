import { BelayError } from "../errors.ts";
import type { ModelClient, ModelReply, ModelRequest, ReportedUsage } from "./model-client.ts";
import type { TextModel } from "./text-model.ts";
import { estimatePromptTokens, estimateTokens } from "./usage.ts";

export interface ScriptOptions {
  /** Name for the price table. Default `scripted`. */
  readonly id?: string;
}

/** What a scripted model knows of its use. */
export interface Script<Request> {
  /** Every request so far, in order. */
  readonly requests: readonly Request[];
  /** Throws `BELAY_SCRIPT_LEFT_OVER` when replies were never asked for. */
  assertConsumed(): void;
}

type TextRequest = Parameters<TextModel["complete"]>[0];

/**
 * A model that gives fixed replies in order; usage that a reply does not have is estimated from its length.
 *
 * `generate` throws `BELAY_SCRIPT_EXHAUSTED` when it is asked more often than there are replies.
 */
export function scriptedModel(
  replies: readonly ModelReply[],
  options: ScriptOptions = {},
): ModelClient & Script<ModelRequest> {
  const { id = "scripted" } = options;
  const script = createScript<ModelRequest, ModelReply>(id, replies);
  return {
    id,
    requests: script.requests,
    assertConsumed: script.assertConsumed,
    generate: async (request, { signal, onDelta }) => {
      const reply = script.next(request, signal);
      if (reply.kind !== "unreadable" && reply.text !== "") {
        onDelta?.(reply.text);
      }
      return { ...reply, usage: reply.usage ?? estimatedUsage(request, reply) };
    },
  };
}

/** The same for a model that speaks only text. */
export function scriptedTextModel(
  replies: readonly string[],
  options: ScriptOptions = {},
): TextModel & Script<TextRequest> {
  const { id = "scripted" } = options;
  const script = createScript<TextRequest, string>(id, replies);
  return {
    id,
    requests: script.requests,
    assertConsumed: script.assertConsumed,
    complete: async (request, { signal }) => {
      const text = script.next(request, signal);
      const characters = request.messages.reduce((sum, message) => sum + message.text.length, request.system.length);
      return { text, usage: { inputTokens: Math.floor(characters / 4), outputTokens: estimateTokens(text) } };
    },
  };
}

function createScript<Request, Reply>(
  id: string,
  replies: readonly Reply[],
): Script<Request> & { next(request: Request, signal: AbortSignal): Reply } {
  const requests: Request[] = [];
  return {
    requests,
    next(request, signal) {
      signal.throwIfAborted();
      const reply = replies[requests.length];
      requests.push(request);
      if (reply === undefined) {
        throw new BelayError(
          "BELAY_SCRIPT_EXHAUSTED",
          `The scripted model "${id}" has ${replies.length} replies and was asked for number ${requests.length}. ` +
            "Add a reply, or find out why the run went on.",
        );
      }
      return reply;
    },
    assertConsumed() {
      const left = replies.length - requests.length;
      if (left > 0) {
        throw new BelayError(
          "BELAY_SCRIPT_LEFT_OVER",
          `The scripted model "${id}" was not asked for ${left} of its ${replies.length} replies. ` +
            "Remove them, or find out why the run ended early.",
        );
      }
    },
  };
}

function estimatedUsage(request: ModelRequest, reply: ModelReply): ReportedUsage {
  return { inputTokens: estimatePromptTokens(request), outputTokens: estimateTokens(replyText(reply)) };
}

function replyText(reply: ModelReply): string {
  switch (reply.kind) {
    case "final":
      return reply.text;
    case "unreadable":
      return reply.problem;
    case "calls":
      return reply.calls.reduce(
        (text, { tool, args }) => text + tool + ("text" in args ? args.text : (JSON.stringify(args.json) ?? "")),
        reply.text,
      );
  }
}
