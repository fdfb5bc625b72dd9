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
import type { ModelMessage, ModelRequest, ToolSpec } from "../../model/index.ts";

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
  for (const message of messages) {
    if (message.role === "tool") {
      if (results === undefined) {
        results = [];
        prompt.push({ role: "tool", content: results });
      }
      results.push(remembered(writtenResults, message, resultPart));
      continue;
    }
    results = undefined;
    const written = remembered(writtenMessages, message, ordinaryMessage);
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
  write: (message: Message) => Written,
): Written {
  const found = known.get(message);
  if (found !== undefined) return found;
  const made = write(message);
  known.set(message, made);
  return made;
}

function ordinaryMessage(message: OrdinaryMessage): LanguageModelV4Message | undefined {
  return message.role === "assistant" ? assistantMessage(message) : userMessage(message.text);
}

function userMessage(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function assistantMessage(message: Extract<ModelMessage, { role: "assistant" }>): LanguageModelV4Message | undefined {
  const calls = message.calls.map(
    ({ callId, tool, args }): LanguageModelV4ToolCallPart => ({
      type: "tool-call",
      toolCallId: wireName(callId),
      toolName: wireName(tool),
      // Arguments that could not be read are remembered as null, and providers take only an object.
      input: typeof args === "object" && args !== null && !Array.isArray(args) ? args : {},
    }),
  );
  if (message.text === "" && calls.length === 0) return undefined;
  return {
    role: "assistant",
    content: [...(message.text === "" ? [] : [{ type: "text", text: message.text } as const]), ...calls],
  };
}

function resultPart(message: ToolMessage): LanguageModelV4ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: wireName(message.callId),
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
