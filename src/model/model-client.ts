import type { JsonValue, Message } from "../core/index.ts";

/** What the model is told about one tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonValue;
}

/** One request to a language model: everything it will see, already filtered and wrapped. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  readonly replyTokensMax: number;
  readonly temperature: number;
}

/** The core's messages with each tool result rendered to the text that the model sees. */
export type ModelMessage =
  | Extract<Message, { role: "user" | "harness" }>
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ModelMessageCall[];
      /** What this very model gave with the message. It comes from a store, so an adapter checks it like any input. */
      readonly providerData?: JsonValue;
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
    };

export interface ModelMessageCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonValue;
}

/** A call as the model wrote it. Text is parsed strictly by the harness; a parsed value is taken as it is. */
export interface RequestedCall {
  readonly tool: string;
  readonly args: { readonly text: string } | { readonly json: unknown };
}

/** Tokens as the provider reports them; a missing, negative or non-finite number is charged at the reservation. */
export interface ReportedUsage {
  /** All of the input, that of the cache included. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Of the input: read from the provider's cache. Left out, it counts as none. */
  readonly cacheReadTokens?: number;
  /** Of the input: written to the provider's cache. Left out, it counts as none. */
  readonly cacheWriteTokens?: number;
}

export type ModelReply = { readonly usage?: ReportedUsage } & (
  | { readonly kind: "final"; readonly text: string }
  | {
      readonly kind: "calls";
      readonly text: string;
      readonly calls: readonly RequestedCall[];
      /**
       * What the provider wants back with this message, such as signed reasoning: kept in the journal as it is, handed
       * to the same model in the next requests of the run, and shown to nobody as an answer.
       */
      readonly providerData?: JsonValue;
    }
  /** The reply does not follow the agreed format. `problem` is told to the model. */
  | { readonly kind: "unreadable"; readonly problem: string }
);

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Called with pieces of the reply's text as they arrive, where the provider streams. */
  readonly onDelta?: (text: string) => void;
}

/** One language model. Adapters for vendors implement this and nothing else. */
export interface ModelClient {
  /** Name by which the price table knows it. */
  readonly id: string;
  /**
   * Answers one request. Throws for a failed call; the harness records a safe code and never the exception's text.
   */
  generate(request: ModelRequest, options: GenerateOptions): Promise<ModelReply>;
}
