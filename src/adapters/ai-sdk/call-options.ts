import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage, ModelMessageCall, ModelRequest, ToolSpec } from "../../model/index.ts";
import { type DataPart, dataParts } from "./provider-data.ts";

/** Writes a request in the words of the specification; what is used of it reads the same in V2, V3 and V4. */
export function callOptions(
  request: ModelRequest,
  signal: AbortSignal,
  providerOptions: SharedV4ProviderOptions | undefined,
): LanguageModelV4CallOptions {
  const { system, messages, tools, replyTokensMax, temperature } = request;
  return {
    prompt: promptOf(system, messages),
    maxOutputTokens: replyTokensMax,
    temperature,
    abortSignal: signal,
    includeRawChunks: false,
    ...(tools.length > 0 && { tools: toolsOf(tools), toolChoice: { type: "auto" } }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function promptOf(system: string, messages: readonly ModelMessage[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Message[] = [];
  if (system !== "") prompt.push({ role: "system", content: system });
  // Results of one turn belong into one message: some providers refuse a turn whose results come apart.
  let results: LanguageModelV4ToolResultPart[] | undefined;
  const ids = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "tool") {
      if (results === undefined) {
        results = [];
        prompt.push({ role: "tool", content: results });
      }
      const id = ids.get(message.callId) ?? wireName(message.callId);
      results.push(remembered(writtenResults, message, () => resultPart(message, id)));
      continue;
    }
    results = undefined;
    if (message.role === "assistant") noteIds(ids, message);
    const written = remembered(writtenMessages, message, () => ordinaryMessage(message, ids));
    if (written !== undefined) prompt.push(written);
  }
  return prompt;
}

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type OrdinaryMessage = Exclude<ModelMessage, ToolMessage>;

// Messages are immutable, so each is written once however many steps a run has. Providers read prompts and leave them.
const writtenMessages = new WeakMap<OrdinaryMessage, LanguageModelV4Message | undefined>();
const writtenResults = new WeakMap<ToolMessage, LanguageModelV4ToolResultPart>();

function remembered<Message extends object, Written>(
  known: WeakMap<Message, Written>,
  message: Message,
  write: () => Written,
): Written {
  const found = known.get(message);
  if (found !== undefined) return found;
  const made = write();
  known.set(message, made);
  return made;
}

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type CallIds = ReadonlyMap<string, string>;

/** A provider that wants its reasoning back knows the calls after it by its own ids. One that comes twice is not used. */
function noteIds(ids: Map<string, string>, message: AssistantMessage): void {
  const given = dataParts(message)?.flatMap((part) => (part.type === "call" ? [part.id] : [])) ?? [];
  if (given.length === 0) return;
  const used = new Set(ids.values());
  for (const [index, { callId }] of message.calls.entries()) {
    const id = given[index];
    if (id === undefined || id === "" || used.has(id)) continue;
    used.add(id);
    ids.set(callId, id);
  }
}

function ordinaryMessage(message: OrdinaryMessage, ids: CallIds): LanguageModelV4Message | undefined {
  return message.role === "assistant" ? assistantMessage(message, ids) : userMessage(message.text);
}

function userMessage(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function assistantMessage(message: AssistantMessage, ids: CallIds): LanguageModelV4Message | undefined {
  const parts = dataParts(message);
  const content = parts === undefined ? plainContent(message, ids) : notedContent(message, parts, ids);
  return content.length === 0 ? undefined : { role: "assistant", content };
}

function plainContent({ text, calls }: AssistantMessage, ids: CallIds): AssistantContent {
  return [...(text === "" ? [] : [{ type: "text", text } as const]), ...calls.map((call) => callPart(call, ids))];
}

/** The message in the order and with the notes that its provider gave. */
function notedContent({ text, calls }: AssistantMessage, parts: readonly DataPart[], ids: CallIds): AssistantContent {
  const content: AssistantContent = [];
  let [place, callsBefore] = [0, 0];
  for (const part of parts) {
    const noted = part.metadata === undefined ? {} : { providerOptions: part.metadata };
    if (part.type === "reasoning") {
      content.push({ type: "reasoning", text: part.text, ...noted });
    } else if (part.type === "text") {
      // The harness may have cut the text, and then there is less of it.
      const shown = text.slice(place, place + part.length);
      place += part.length;
      if (shown !== "") content.push({ type: "text", text: shown, ...noted });
    } else {
      const call = calls[callsBefore];
      callsBefore += 1;
      if (call !== undefined) content.push({ ...callPart(call, ids), ...noted });
    }
  }
  return content;
}

function callPart({ callId, tool, args }: ModelMessageCall, ids: CallIds): LanguageModelV4ToolCallPart {
  return {
    type: "tool-call",
    toolCallId: ids.get(callId) ?? wireName(callId),
    toolName: wireName(tool),
    // Arguments that could not be read are remembered as null, and providers take only an object.
    input: typeof args === "object" && args !== null && !Array.isArray(args) ? args : {},
  };
}

function resultPart(message: ToolMessage, toolCallId: string): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId,
    toolName: wireName(message.tool),
    output: { type: message.isError ? "error-text" : "text", value: message.text },
  };
}

/** Providers refuse a whole request for a dot in a call's id or a foreign character in a name that a model made up. */
function wireName(name: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

// Tool lists are immutable, so what was written of one holds for as long as the list lives.
const written = new WeakMap<readonly ToolSpec[], LanguageModelV4FunctionTool[]>();

function toolsOf(tools: readonly ToolSpec[]): LanguageModelV4FunctionTool[] {
  let list = written.get(tools);
  if (list === undefined) {
    list = tools.map(({ name, description, inputSchema }) => ({
      type: "function",
      name,
      description,
      inputSchema: inputSchema as JSONSchema7,
    }));
    written.set(tools, list);
  }
  // A list of its own for each call, because providers may change what they are given.
  return [...list];
}
