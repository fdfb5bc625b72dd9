import type { LanguageModelV4Content } from "@ai-sdk/provider";
import type { JsonValue } from "../../core/index.ts";
import type { RequestedCall } from "../../model/index.ts";
import { badReply } from "./failure.ts";
import { type DataPart, mergeMetadata, providerDataOf, wholePart } from "./provider-data.ts";

/** Nobody writes answers of this length; a stream without end must not fill the memory. */
const CHARACTERS_MAX = 4_000_000;

export interface CollectedContent {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** What the provider wants back with the message. */
  readonly providerData?: JsonValue;
}

/** A piece of one block of a stream: text of the answer, or reasoning, which is no part of it. */
export interface BlockPiece {
  readonly type: "text" | "reasoning";
  readonly id: string;
  readonly delta: string;
  readonly metadata: unknown;
}

export interface Collector {
  /** Takes a whole part; calls come whole in streams too. */
  take(part: LanguageModelV4Content): void;
  addPiece(piece: BlockPiece): void;
  /** Bounds what is not kept. */
  count(characters: number): void;
  collected(): CollectedContent;
}

export function createCollector(): Collector {
  let text = "";
  let characters = 0;
  const calls: RequestedCall[] = [];
  const parts: DataPart[] = [];
  const blocks = new Map<string, number>();
  const count = (length: number): void => {
    characters += length;
    if (characters > CHARACTERS_MAX) throw badReply();
  };
  return {
    count,
    take(part) {
      const noted = wholePart(part);
      if (noted !== undefined) parts.push(noted);
      if (part.type === "text" || part.type === "reasoning") count(part.text.length);
      if (part.type === "text") text += part.text;
      if (part.type === "tool-call") calls.push(callOf(part, count));
    },
    addPiece(piece) {
      count(piece.delta.length);
      if (piece.type === "text") text += piece.delta;
      const key = `${piece.type} ${piece.id}`;
      const place = blocks.get(key) ?? parts.length;
      blocks.set(key, place);
      parts[place] = longer(parts[place], piece);
    },
    collected: () => {
      const providerData = providerDataOf(parts);
      return { text, calls, ...(providerData === undefined ? {} : { providerData }) };
    },
  };
}

function longer(part: DataPart | undefined, { type, delta, metadata: added }: BlockPiece): DataPart {
  const metadata = mergeMetadata(part?.metadata, added);
  const noted = metadata === undefined ? {} : { metadata };
  return type === "text"
    ? { type, length: (part?.type === "text" ? part.length : 0) + delta.length, ...noted }
    : { type, text: (part?.type === "reasoning" ? part.text : "") + delta, ...noted };
}

function callOf(
  part: Extract<LanguageModelV4Content, { type: "tool-call" }>,
  count: (characters: number) => void,
): RequestedCall {
  // Nobody asked for tools that the provider runs itself: nothing decided on them and nothing recorded them.
  if (part.providerExecuted === true) throw badReply();
  const input: unknown = part.input;
  if (typeof input !== "string") return { tool: part.toolName, args: { json: input } };
  count(input.length);
  return { tool: part.toolName, args: { text: input } };
}
