import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { RequestedCall } from "../../model/index.ts";
import { badReply, replyCut } from "./failure.ts";

/** A whole reply in parts, from either way of asking for it. */
export interface Collected {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** As the provider gave it: a text in V2, an object since V3. */
  readonly finishReason: unknown;
  readonly usage: unknown;
}

/** What has been seen of a stream; once a part of the answer was, the call is not repeated. */
export interface Progress {
  hasBegun: boolean;
}

/** Nobody writes answers of this length; a stream without end must not fill the memory. */
const CHARACTERS_MAX = 4_000_000;

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
  let inputCharacters = 0;
  const reader = stream.getReader();
  // Whatever was not read is not wanted; a stream that is broken already cannot be cancelled.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  const { abortSignal } = options;
  abortSignal?.addEventListener("abort", cancel, { once: true });
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      switch (part.type) {
        case "text-delta":
          if (part.delta === "") break;
          progress.hasBegun = true;
          collector.addText(part.delta);
          onDelta(part.delta);
          break;
        case "tool-input-delta":
          progress.hasBegun = true;
          inputCharacters += part.delta.length;
          if (inputCharacters > CHARACTERS_MAX) throw badReply();
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

interface Collector {
  take(part: LanguageModelV4Content): void;
  addText(text: string): void;
  collected(): Pick<Collected, "text" | "calls">;
}

function createCollector(): Collector {
  let text = "";
  let characters = 0;
  const calls: RequestedCall[] = [];
  const count = (length: number): void => {
    characters += length;
    if (characters > CHARACTERS_MAX) throw badReply();
  };
  const addText = (delta: string): void => {
    count(delta.length);
    text += delta;
  };
  return {
    addText,
    take(part) {
      if (part.type === "text") addText(part.text);
      if (part.type !== "tool-call") return;
      // Nobody asked for tools that the provider runs itself: nothing decided on them and nothing recorded them.
      if (part.providerExecuted === true) throw badReply();
      const input: unknown = part.input;
      if (typeof input === "string") count(input.length);
      calls.push({ tool: part.toolName, args: typeof input === "string" ? { text: input } : { json: input } });
    },
    collected: () => ({ text, calls }),
  };
}
