import type { ContentBlock, Message } from "@aws-sdk/client-bedrock-runtime";
import type { JsonValue } from "../../core/index.ts";
import type { ModelMessage, ModelMessageCall } from "../../model/index.ts";
import { type KeptBlock, keptBlocks, reasoningBlock } from "./reasoning.ts";

// The service refuses a block of text without a visible character.
const NO_TEXT = "(no text)";

type Document = NonNullable<ContentBlock.ToolUseMember["toolUse"]["input"]>;

/** One block, with the role of the message that it belongs to. */
interface Placed {
  readonly role: "user" | "assistant";
  readonly block: ContentBlock;
}

/**
 * The conversation as Converse takes it: roles alternate, and all results of a turn are in the one message after it.
 *
 * Without tools in the request the service takes no block about tools, so calls and results are then told as text.
 */
export function converseMessages(messages: readonly ModelMessage[], hasTools: boolean): Message[] {
  const useIds = new Map<string, string>();
  const merged: { role: "user" | "assistant"; content: ContentBlock[] }[] = [];
  for (const { role, block } of messages.flatMap((message) => placed(message, hasTools, useIds))) {
    const last = merged.at(-1);
    if (last?.role !== role) {
      merged.push({ role, content: [block] });
    } else if (block.toolResult === undefined) {
      last.content.push(block);
    } else {
      // Results come first, also when a word of the harness was written between them.
      last.content.splice(resultsOf(last.content), 0, block);
    }
  }
  return merged;
}

function resultsOf(content: readonly ContentBlock[]): number {
  const first = content.findIndex(({ toolResult }) => toolResult === undefined);
  return first === -1 ? content.length : first;
}

function placed(message: ModelMessage, hasTools: boolean, useIds: Map<string, string>): readonly Placed[] {
  switch (message.role) {
    case "user":
    case "harness":
      return [{ role: "user", block: { text: shown(message.text) } }];
    case "assistant": {
      const kept = hasTools ? keptBlocks(message) : undefined;
      if (kept !== undefined)
        return withReasoning(message, kept, useIds).map((block) => ({ role: "assistant", block }));
      const calls = message.calls.map((call) => (hasTools ? toolUse(call, useIds) : { text: toldCall(call) }));
      const isBare = message.text.trim() === "" && calls.length > 0;
      const blocks: readonly ContentBlock[] = isBare ? calls : [{ text: shown(message.text) }, ...calls];
      return blocks.map((block) => ({ role: "assistant", block }));
    }
    case "tool":
      return [{ role: "user", block: hasTools ? toolResult(message, useIds) : { text: toldResult(message) } }];
  }
}

/** The blocks of a message in the order in which the service gave them. */
function withReasoning(
  { text, calls }: Extract<ModelMessage, { role: "assistant" }>,
  kept: readonly KeptBlock[],
  useIds: Map<string, string>,
): readonly ContentBlock[] {
  const blocks: ContentBlock[] = [];
  let [place, callsBefore] = [0, 0];
  for (const block of kept) {
    if (block.type === "text") {
      const part = text.slice(place, place + block.length);
      place += block.length;
      if (part.trim() !== "") blocks.push({ text: part });
    } else if (block.type === "call") {
      const call = calls[callsBefore];
      callsBefore += 1;
      if (call !== undefined) blocks.push(toolUse(call, useIds));
    } else {
      blocks.push(reasoningBlock(block));
    }
  }
  return blocks;
}

function toolUse(call: ModelMessageCall, useIds: Map<string, string>): ContentBlock {
  return {
    toolUse: { toolUseId: useIdOf(call.callId, useIds), name: call.tool, input: inputOf(call.args) },
  };
}

function toolResult(message: Extract<ModelMessage, { role: "tool" }>, useIds: Map<string, string>): ContentBlock {
  return {
    toolResult: {
      toolUseId: useIdOf(message.callId, useIds),
      content: [{ text: shown(message.text) }],
      status: message.isError ? "error" : "success",
    },
  };
}

/** Our ids may have signs that the service does not take; a number in order of appearance stays the same each step. */
function useIdOf(callId: string, useIds: Map<string, string>): string {
  const useId = useIds.get(callId) ?? `call_${useIds.size + 1}`;
  useIds.set(callId, useId);
  return useId;
}

/** The service takes objects only, and a model may have sent anything. */
function inputOf(args: JsonValue): Document {
  const isObject = typeof args === "object" && args !== null && !Array.isArray(args);
  return (isObject ? args : { arguments: args }) as Document;
}

function toldCall({ tool, args }: ModelMessageCall): string {
  return `Call of ${tool}: ${JSON.stringify(args)}`;
}

function toldResult({ tool, text, isError }: Extract<ModelMessage, { role: "tool" }>): string {
  return `${isError ? "Failure" : "Result"} of ${tool}: ${text}`;
}

function shown(text: string): string {
  return text.trim() === "" ? NO_TEXT : text;
}
