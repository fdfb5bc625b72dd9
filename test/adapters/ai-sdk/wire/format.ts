import type { LanguageModelV4 } from "@ai-sdk/provider";

export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them. */
  readonly args: string;
}

/** One reply of a model, before it is written in a provider's format. */
export interface WireReply {
  readonly text?: string;
  /** Words of a model that declines, where the format has a place for them. */
  readonly refusal?: string;
  readonly calls?: readonly WireCall[];
  /** Default `stop`, or `calls` when there are calls. */
  readonly finish?: "stop" | "calls" | "length" | "filter";
  /** `input` includes what was read from the cache. */
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
}

export const USAGE = { input: 100, cached: 40, output: 20 } as const;

/** How one provider writes requests and replies. */
export interface WireFormat {
  readonly name: string;
  /** The provider's real package, pointed at a server. */
  model(url: string): LanguageModelV4;
  json(reply: WireReply): unknown;
  /** Server-sent events, one text each. */
  events(reply: WireReply): readonly string[];
  error(message: string): unknown;
  /** Whether half-written arguments can be put on the wire in one piece. */
  readonly hasTextArguments: boolean;
}

export function finishOf(reply: WireReply): "stop" | "calls" | "length" | "filter" {
  return reply.finish ?? ((reply.calls?.length ?? 0) > 0 ? "calls" : "stop");
}

/** Two pieces, because a stream that comes in one would prove nothing. */
export function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

export function data(value: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}
