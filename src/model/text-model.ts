import type { GenerateOptions, ReportedUsage } from "./model-client.ts";

export interface TextMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A model that only speaks text; `jsonProtocol` makes a `ModelClient` of it. */
export interface TextModel {
  readonly id: string;
  complete(
    request: {
      readonly system: string;
      readonly messages: readonly TextMessage[];
      readonly replyTokensMax: number;
      readonly temperature: number;
    },
    options: GenerateOptions,
  ): Promise<{ readonly text: string; readonly usage?: ReportedUsage }>;
}
