import type { LanguageModelV4Content, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { JsonValue } from "../../core/index.ts";
import type { ModelMessage } from "../../model/index.ts";

/** One part of a reply as its provider wants it back: signed reasoning, and what it noted on texts and calls. */
export type DataPart =
  | { readonly type: "reasoning"; readonly text: string; readonly metadata?: Metadata }
  /** So many characters of the message's text. */
  | { readonly type: "text"; readonly length: number; readonly metadata?: Metadata }
  /** The next call of the message, under the id that its model gave it. */
  | { readonly type: "call"; readonly id: string; readonly metadata?: Metadata };

type Metadata = SharedV4ProviderOptions;

/**
 * What has to go back with a message, or nothing.
 *
 * An id alone only refers to what a provider keeps, and the message says the same. Beside reasoning it does count, since
 * reasoning is refused without the very item that followed it.
 */
export function providerDataOf(parts: readonly DataPart[]): JsonValue | undefined {
  const isNeeded = parts.some(
    (part) => part.type === "reasoning" || namesOf(part.metadata).some((name) => name !== "itemId"),
  );
  return isNeeded ? ({ parts } as unknown as JsonValue) : undefined;
}

function namesOf(metadata: Metadata = {}): readonly string[] {
  return Object.values(metadata).flatMap((ofProvider) => Object.keys(ofProvider));
}

/** Later notes on a part complete the earlier ones; a signature comes at its end. */
export function mergeMetadata(known: Metadata | undefined, added: unknown): Metadata | undefined {
  if (!isMetadata(added)) return known;
  const merged = { ...known };
  for (const [provider, notes] of Object.entries(added)) merged[provider] = { ...merged[provider], ...notes };
  return merged;
}

/** A part that a reply gives in one piece. */
export function wholePart(part: LanguageModelV4Content): DataPart | undefined {
  const metadata = "providerMetadata" in part ? mergeMetadata(undefined, part.providerMetadata) : undefined;
  const noted = metadata === undefined ? {} : { metadata };
  switch (part.type) {
    case "reasoning":
      return { type: "reasoning", text: part.text, ...noted };
    case "text":
      return { type: "text", length: part.text.length, ...noted };
    case "tool-call":
      return { type: "call", id: part.toolCallId, ...noted };
    default:
      return undefined;
  }
}

/** The parts of a message that are noted, or nothing when what is noted is not of this message. */
export function dataParts({
  providerData,
  calls,
}: Extract<ModelMessage, { role: "assistant" }>): readonly DataPart[] | undefined {
  const parts: unknown = isRecord(providerData) ? providerData["parts"] : undefined;
  if (!Array.isArray(parts) || !parts.every(isDataPart)) return undefined;
  return parts.filter(({ type }) => type === "call").length === calls.length ? parts : undefined;
}

function isDataPart(part: unknown): part is DataPart {
  if (!isRecord(part) || (part["metadata"] !== undefined && !isMetadata(part["metadata"]))) return false;
  switch (part["type"]) {
    case "reasoning":
      return typeof part["text"] === "string";
    case "text":
      return Number.isSafeInteger(part["length"]) && Number(part["length"]) >= 0;
    case "call":
      return typeof part["id"] === "string";
    default:
      return false;
  }
}

function isMetadata(value: unknown): value is Metadata {
  return isRecord(value) && Object.values(value).every(isRecord);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
