import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type BlockPiece, type CollectedContent, createCollector } from "./collector.ts";
import { badReply, replyCut } from "./failure.ts";

/** A whole reply in parts, from either way of asking for it. */
export interface Collected extends CollectedContent {
  /** As the provider gave it: a text in V2, an object since V3. */
  readonly finishReason: unknown;
  readonly usage: unknown;
}

/** What has been seen of a stream; once a part of the answer was, the call is not repeated. */
export interface Progress {
  hasBegun: boolean;
}

export async function generateOnce(model: LanguageModelV4, options: LanguageModelV4CallOptions): Promise<Collected> {
  const { content, finishReason, usage } = await model.doGenerate(options);
  if (!Array.isArray(content)) throw badReply();
  const collector = createCollector();
  for (const part of content) collector.take(part);
  return { ...collector.collected(), finishReason, usage };
}

/** Reads a stream to its end. A stream that ends without saying that it is finished is a failure, whatever it has given. */
export async function streamOnce(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  onDelta: (text: string) => void,
  progress: Progress,
): Promise<Collected> {
  const { stream } = await model.doStream(options);
  const collector = createCollector();
  let finish: Extract<LanguageModelV4StreamPart, { type: "finish" }> | undefined;
  const reader = stream.getReader();
  // Whatever was not read is not wanted; a stream that is broken already cannot be cancelled.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const { abortSignal } = options;
  abortSignal?.addEventListener("abort", cancel, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      const piece = pieceOf(part);
      if (piece !== undefined) collector.addPiece(piece);
      switch (part.type) {
        case "text-delta":
          if (part.delta === "") break;
          progress.hasBegun = true;
          onDelta(part.delta);
          break;
        case "tool-input-delta":
          progress.hasBegun = true;
          collector.count(part.delta.length);
          break;
        case "tool-call":
          progress.hasBegun = true;
          collector.take(part);
          break;
        case "finish":
          finish = part;
          break;
        case "error":
          throw part.error;
        default:
      }
    }
  } finally {
    abortSignal?.removeEventListener("abort", cancel);
    cancel();
  }
  if (finish === undefined) throw replyCut();
  return { ...collector.collected(), finishReason: finish.finishReason, usage: finish.usage };
}

/** What a part of a stream adds to a block: its text, and what the provider notes at its beginning, middle and end. */
function pieceOf(part: LanguageModelV4StreamPart): BlockPiece | undefined {
  switch (part.type) {
    case "text-start":
    case "text-end":
      return { type: "text", id: part.id, delta: "", metadata: part.providerMetadata };
    case "text-delta":
      return { type: "text", id: part.id, delta: part.delta, metadata: part.providerMetadata };
    case "reasoning-start":
    case "reasoning-end":
      return { type: "reasoning", id: part.id, delta: "", metadata: part.providerMetadata };
    case "reasoning-delta":
      return { type: "reasoning", id: part.id, delta: part.delta, metadata: part.providerMetadata };
    default:
      return undefined;
  }
}
