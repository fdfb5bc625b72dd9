import type { ContentBlock } from "@aws-sdk/client-bedrock-runtime";
import type { JsonValue } from "../../core/index.ts";
import type { ModelMessage } from "../../model/index.ts";

/** The blocks of a reply in their order; reasoning as the service wants it back, unchanged and with its signature. */
export type KeptBlock =
  | { readonly type: "text"; readonly length: number }
  | { readonly type: "call" }
  | { readonly type: "reasoning"; readonly text: string; readonly signature?: string }
  /** Bytes in Base64. */
  | { readonly type: "redacted"; readonly bytes: string };

type Fields = Readonly<Record<string, unknown>>;

/** What has to go back with a message: the order of its blocks, when reasoning is among them. */
export function providerDataOf(blocks: readonly Fields[]): JsonValue | undefined {
  const kept = blocks.flatMap((block) => keptBlock(block) ?? []);
  return kept.some(isReasoning) ? ({ blocks: kept } as unknown as JsonValue) : undefined;
}

function keptBlock({ text, toolUse, reasoningContent }: Fields): KeptBlock | undefined {
  if (typeof text === "string") return { type: "text", length: text.length };
  if (toolUse !== undefined) return { type: "call" };
  const { reasoningText, redactedContent } = fields(reasoningContent);
  if (redactedContent instanceof Uint8Array) {
    return { type: "redacted", bytes: Buffer.from(redactedContent).toString("base64") };
  }
  const { text: reasoning, signature } = fields(reasoningText);
  if (typeof reasoning !== "string") return undefined;
  return { type: "reasoning", text: reasoning, ...(typeof signature === "string" && { signature }) };
}

/** The kept blocks of a message, or nothing when they are not of this message. */
export function keptBlocks({
  providerData,
  calls,
}: Extract<ModelMessage, { role: "assistant" }>): readonly KeptBlock[] | undefined {
  const { blocks } = fields(providerData);
  if (!Array.isArray(blocks) || !blocks.every(isKeptBlock)) return undefined;
  return blocks.filter(({ type }) => type === "call").length === calls.length ? blocks : undefined;
}

export function reasoningBlock(kept: Extract<KeptBlock, { type: "reasoning" | "redacted" }>): ContentBlock {
  if (kept.type === "redacted") return { reasoningContent: { redactedContent: Buffer.from(kept.bytes, "base64") } };
  const { text, signature } = kept;
  return { reasoningContent: { reasoningText: { text, ...(signature !== undefined && { signature }) } } };
}

function isReasoning({ type }: KeptBlock): boolean {
  return type === "reasoning" || type === "redacted";
}

function isKeptBlock(block: unknown): block is KeptBlock {
  const { type, length, text, signature, bytes } = fields(block);
  switch (type) {
    case "call":
      return true;
    case "text":
      return Number.isSafeInteger(length) && Number(length) >= 0;
    case "reasoning":
      return typeof text === "string" && (signature === undefined || typeof signature === "string");
    case "redacted":
      return typeof bytes === "string";
    default:
      return false;
  }
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
