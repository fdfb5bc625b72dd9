import type { ReportedUsage } from "../../model/index.ts";

/** Tokens as the provider counts them. Input includes what was read from and written to its cache. */
export interface AiSdkUsage extends ReportedUsage {
  readonly reasoningTokens?: number;
}

/**
 * Reads the usage of any version of the specification: nested since V3, flat in V2.
 *
 * A count that is missing, and a total of zero, is left out: a call that was answered has read and written something,
 * so zero means that nobody counted, and the harness then charges what it reserved.
 */
export function readUsage(usage: unknown, provider: string): AiSdkUsage {
  const { inputTokens, outputTokens } = record(usage);
  return typeof inputTokens === "object" || typeof outputTokens === "object"
    ? nested(record(inputTokens), record(outputTokens))
    : flat(record(usage), provider);
}

function nested(input: Counts, output: Counts): AiSdkUsage {
  const parts = [input["noCache"], input["cacheRead"], input["cacheWrite"]].filter(isCount);
  return usageOf({
    inputTokens: input["total"] ?? sum(parts),
    outputTokens: output["total"] ?? sum([output["text"], output["reasoning"]].filter(isCount)),
    cacheReadTokens: input["cacheRead"],
    cacheWriteTokens: input["cacheWrite"],
    reasoningTokens: output["reasoning"],
  });
}

function flat(usage: Counts, provider: string): AiSdkUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage;
  // Providers with Anthropic's counts leave cached tokens out of their input in V2; the others count them in.
  const isApart = /anthropic|bedrock/i.test(provider) && isCount(inputTokens) && isCount(cachedInputTokens);
  return usageOf({
    inputTokens: isApart ? inputTokens + cachedInputTokens : inputTokens,
    outputTokens,
    cacheReadTokens: cachedInputTokens,
    cacheWriteTokens: undefined,
    reasoningTokens,
  });
}

function usageOf(counts: Readonly<Record<keyof AiSdkUsage, unknown>>): AiSdkUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = counts;
  return {
    ...(isCount(inputTokens) && inputTokens > 0 && { inputTokens }),
    ...(isCount(outputTokens) && outputTokens > 0 && { outputTokens }),
    ...(isCount(cacheReadTokens) && { cacheReadTokens }),
    ...(isCount(cacheWriteTokens) && { cacheWriteTokens }),
    ...(isCount(reasoningTokens) && { reasoningTokens }),
  };
}

type Counts = Readonly<Record<string, unknown>>;

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function sum(counts: readonly number[]): number | undefined {
  return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
}

function record(value: unknown): Counts {
  return typeof value === "object" && value !== null ? (value as Counts) : {};
}
