import type { Message } from "../core/index.ts";
import { type ModelMessage, messageCharacters } from "../model/index.ts";
import { type RenderOptions, renderMessage } from "./render.ts";

/** A run's messages as the model reads them, kept from step to step so that a step costs only what is new. */
export interface Transcript {
  read(
    messages: readonly Message[],
    summaries: Readonly<Record<string, string>>,
  ): { readonly messages: readonly ModelMessage[]; readonly characters: number };
}

/** Messages only ever grow at the end; anything else is rendered from the start again. */
export function createTranscript(options: RenderOptions): Transcript {
  let rendered: ModelMessage[] = [];
  let last: Message | undefined;
  let known: Readonly<Record<string, string>> = {};
  let characters = 0;
  return {
    read(messages, summaries) {
      const continues = summaries === known && (last === undefined || messages[rendered.length - 1] === last);
      if (!continues) {
        rendered = [];
        characters = 0;
      }
      for (const message of messages.slice(rendered.length)) {
        const summary = message.role === "tool" ? summaries[message.callId] : undefined;
        const shown = renderMessage(message, options, summary);
        rendered.push(shown);
        characters += messageCharacters(shown);
      }
      last = messages.at(-1);
      known = summaries;
      return { messages: rendered.slice(), characters };
    },
  };
}
