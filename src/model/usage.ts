import type { Reservation, Usage } from "../core/index.ts";
import type { ModelMessage, ModelRequest, ReportedUsage, ToolSpec } from "./model-client.ts";

/** Tokens of a text where nobody has counted them: a quarter of its length in UTF-16 units, rounded down. */
export function estimateTokens(text: string): number {
  return tokensOf(text.length);
}

export function estimateMessageTokens(message: ModelMessage): number {
  return tokensOf(messageCharacters(message));
}

/** Tokens of everything that the model will read; measures only what it has not measured before. */
export function estimatePromptTokens(request: ModelRequest): number {
  let characters = weightOf(request.system) + toolCharacters(request.tools);
  for (const message of request.messages) {
    characters += messageCharacters(message);
  }
  return tokensOf(characters);
}

/** The same estimate when the characters of the messages are known already. */
export function estimateRequestTokens(request: Omit<ModelRequest, "messages">, messagesCharacters: number): number {
  return tokensOf(weightOf(request.system) + toolCharacters(request.tools) + messagesCharacters);
}

/**
 * What a model call is charged. A number that the provider did not report, or that is negative, no whole number or not
 * finite, is charged at the reservation: unknown is never zero.
 */
export function readUsage(reported: ReportedUsage | undefined, reservation: Reservation): Usage {
  // No prompt is empty: a provider that says 0 did not count.
  const inputTokens = reported?.inputTokens === 0 ? undefined : tokenCount(reported?.inputTokens);
  const outputTokens = tokenCount(reported?.outputTokens);
  const estimated = inputTokens === undefined || outputTokens === undefined;
  return {
    ...(inputTokens === undefined ? { inputTokens: reservation.inputTokens } : withCache(inputTokens, reported)),
    outputTokens: outputTokens ?? reservation.outputTokens,
    ...(estimated ? { estimated } : {}),
  };
}

/** Input with what of it the cache had. A cache of more than the whole input was counted beside it, so it is added. */
function withCache(inputTokens: number, reported: ReportedUsage | undefined): Omit<Usage, "outputTokens"> {
  const cacheReadTokens = tokenCount(reported?.cacheReadTokens) ?? 0;
  const cacheWriteTokens = tokenCount(reported?.cacheWriteTokens) ?? 0;
  const cached = cacheReadTokens + cacheWriteTokens;
  return {
    inputTokens: cached > inputTokens ? Math.min(inputTokens + cached, TOKENS_MAX) : inputTokens,
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
  };
}

/** More than any model reads; a larger report is cut here, so that sums of costs stay exact. */
const TOKENS_MAX = 1_000_000_000;

function tokenCount(value: unknown): number | undefined {
  // Adding 0 turns -0 into 0.
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? Math.min(value, TOKENS_MAX) + 0
    : undefined;
}

/** Length in characters, where one outside ASCII counts four: such text has up to a token for each. */
function weightOf(text: string): number {
  return text.length + 3 * (text.match(NOT_ASCII)?.length ?? 0);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the first 128 characters are what ASCII is
const NOT_ASCII = /[^\u0000-\u007f]/g;

function tokensOf(characters: number): number {
  return Math.floor(characters / 4);
}

// Messages and tool lists are immutable, so a measure holds for as long as the object lives.
const measuredMessages = new WeakMap<ModelMessage, number>();
const measuredTools = new WeakMap<readonly ToolSpec[], number>();

/** Characters of a message that count towards the estimate of a prompt. */
export function messageCharacters(message: ModelMessage): number {
  let characters = measuredMessages.get(message);
  if (characters === undefined) {
    characters = measureMessage(message);
    measuredMessages.set(message, characters);
  }
  return characters;
}

function measureMessage(message: ModelMessage): number {
  switch (message.role) {
    case "user":
    case "harness":
      return weightOf(message.text);
    case "assistant":
      return message.calls.reduce(
        (sum, call) => sum + call.tool.length + weightOf(JSON.stringify(call.args)),
        weightOf(message.text) + (message.providerData === undefined ? 0 : JSON.stringify(message.providerData).length),
      );
    case "tool":
      return message.tool.length + weightOf(message.text);
  }
}

function toolCharacters(tools: readonly ToolSpec[]): number {
  let characters = measuredTools.get(tools);
  if (characters === undefined) {
    characters = tools.reduce(
      (sum, tool) => sum + tool.name.length + tool.description.length + JSON.stringify(tool.inputSchema).length,
      0,
    );
    measuredTools.set(tools, characters);
  }
  return characters;
}
