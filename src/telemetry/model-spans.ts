import type { RunEvent, Usage } from "../core/index.ts";
import { BELAY } from "./attributes.ts";
import { label, outputMessage, shortName } from "./content.ts";
import type { AttributeValue } from "./span.ts";
import { type Draft, type EventOf, type PlacedEntry, type SpanBuilder, setAttributes } from "./span-builder.ts";

interface ModelSpanOptions {
  readonly capture: boolean;
  readonly provider: string;
}

export interface ModelSpans {
  take(entry: PlacedEntry): void;
}

/** Nobody knows what became of the model call: its process died, or the run was cancelled. */
const INTERRUPTED = "interrupted";

/** Entries that are no sign of life of the process that drove the run before. */
const FROM_OUTSIDE: ReadonlySet<RunEvent["type"]> = new Set([
  "segment.started",
  "message.queued",
  "run.cancel_requested",
  "approval.resolved",
]);

interface Model extends ModelSpanOptions {
  readonly builder: SpanBuilder;
  /** Open model call; there is one at most. */
  chat: Draft | undefined;
  /** False for a run that was started with its calls: its reply is made up, and a span of it would be a lie. */
  asksModel: boolean;
  lastOwnAt: number;
}

/** `chat` and `compaction`. Token usage is on `chat` only, so that no receiver counts it twice. */
export function createModelSpans(builder: SpanBuilder, options: ModelSpanOptions): ModelSpans {
  const self: Model = { ...options, builder, chat: undefined, asksModel: true, lastOwnAt: 0 };
  return {
    take(entry) {
      const { event } = entry;
      switch (event.type) {
        case "run.started":
          self.asksModel = event.endsAfterTurn !== true;
          break;
        case "model.requested":
          if (self.asksModel) {
            openChat(self, entry, event);
          }
          break;
        case "model.replied":
          takeReply(self, entry, event);
          break;
        case "model.failed":
          closeChat(self, entry, label(event.code));
          break;
        case "limit.reached":
          closeChat(self, entry, event.limit);
          break;
        case "run.ended":
          closeChat(self, entry, INTERRUPTED);
          break;
        case "context.compacted":
          addCompaction(self, entry, event);
          break;
        default:
          break;
      }
      if (!FROM_OUTSIDE.has(event.type)) {
        self.lastOwnAt = entry.at;
      }
    },
  };
}

function openChat(self: Model, entry: PlacedEntry, event: EventOf<"model.requested">): void {
  const { builder, provider } = self;
  const { names } = builder;
  const model = event.model === undefined ? undefined : shortName(event.model);
  // The time until another process took the run over is not the model's.
  closeChat(self, { ...entry, at: self.lastOwnAt }, INTERRUPTED);
  self.chat = builder.open(entry, {
    name: model === undefined ? "chat" : `chat ${model}`,
    role: "LLM",
    subject: "chat",
    attributes: {
      [names.operation]: "chat",
      [names.provider]: provider,
      [names.requestModel]: model,
      [names.requestTokensMax]: event.reserved.outputTokens,
    },
  });
}

function closeChat(self: Model, entry: PlacedEntry, errorType: string | undefined): void {
  if (self.chat !== undefined) {
    self.builder.close(self.chat, entry, errorType);
    self.chat = undefined;
  }
}

function takeReply(self: Model, entry: PlacedEntry, event: EventOf<"model.replied">): void {
  const { builder, capture, chat } = self;
  const { names } = builder;
  const { output, usage, costNanoUsd } = event;
  if (chat === undefined) {
    return;
  }
  const isReadable = output.kind !== "unreadable";
  setAttributes(chat, {
    ...usageAttributes(builder, usage, costNanoUsd),
    [names.finishReasons]: isReadable ? [output.kind === "final" ? "stop" : "tool_call"] : undefined,
    [names.outputMessages]: capture ? outputMessage(output) : undefined,
  });
  closeChat(self, entry, isReadable ? undefined : "invalid_output");
}

/** A compaction, and below it the model calls that wrote its summaries, if any. */
function addCompaction(self: Model, entry: PlacedEntry, event: EventOf<"context.compacted">): void {
  const { builder, provider } = self;
  const { names } = builder;
  const { tokensBefore, tokensAfter, summaries, usage, costNanoUsd } = event;
  const span = builder.open(entry, {
    name: "compaction",
    role: "CHAIN",
    subject: "compaction",
    attributes: {
      [names.operation]: "compaction",
      [BELAY.tokensBefore]: tokensBefore,
      [BELAY.tokensAfter]: tokensAfter,
      [BELAY.results]: summaries.length,
    },
  });
  if (usage !== undefined) {
    // The journal keeps one sum for all summaries, and not the name of their model.
    const chat = builder.open(entry, {
      name: "chat",
      role: "LLM",
      subject: "compaction chat",
      parent: span,
      attributes: {
        [names.operation]: "chat",
        [names.provider]: provider,
        [BELAY.purpose]: "compaction",
        ...usageAttributes(builder, usage, costNanoUsd),
      },
    });
    builder.close(chat, entry);
  }
  builder.close(span, entry);
}

function usageAttributes(
  { names }: SpanBuilder,
  { inputTokens, outputTokens, estimated }: Usage,
  costNanoUsd: number | undefined,
): Record<string, AttributeValue | undefined> {
  return {
    [names.inputTokens]: inputTokens,
    [names.outputTokens]: outputTokens,
    [BELAY.usageEstimated]: estimated,
    [BELAY.costNanoUsd]: costNanoUsd,
  };
}
