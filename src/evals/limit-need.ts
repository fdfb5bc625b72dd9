import type { Entry } from "../core/index.ts";
import type { LimitOptions } from "../engine/index.ts";
import type { EvalCase, LimitFromNeed } from "./suite.ts";

/** The most that a run had used and reserved at once, in tokens and in US dollars times 10^9. */
export interface Need {
  readonly tokens: number;
  /** `undefined` when the price of a call was unknown. */
  readonly costNanoUsd: number | undefined;
}

/** Reads from a run's journal what its model calls needed: used so far and reserved for the next one. */
export function needOf(entries: readonly Entry[]): Need {
  let tokensUsed = 0;
  let costUsed: number | undefined = 0;
  let tokens = 0;
  let cost: number | undefined = 0;
  for (const { event } of entries) {
    if (event.type === "model.requested") {
      const { inputTokens, outputTokens, costNanoUsd } = event.reserved;
      tokens = Math.max(tokens, tokensUsed + inputTokens + outputTokens);
      cost = maximum(cost, sum(costUsed, costNanoUsd));
    } else if (event.type === "model.replied") {
      tokensUsed += event.usage.inputTokens + event.usage.outputTokens;
      costUsed = sum(costUsed, event.costNanoUsd);
    }
  }
  return { tokens, costNanoUsd: cost };
}

/**
 * The case with its limit set from what it needs. One that is to be stopped never asks for its last scripted reply.
 */
export function withLimitFromNeed(evalCase: EvalCase, { limit, add }: LimitFromNeed, need: Need): EvalCase {
  const { limitFromNeed: _done, script, ...rest } = evalCase;
  const bound: LimitOptions =
    limit === "tokensMax" ? { tokensMax: need.tokens + add } : { costUsdMax: ((need.costNanoUsd ?? 0) + add) / 1e9 };
  return {
    ...rest,
    ...(script && { script: add < 0 ? script.slice(0, -1) : script }),
    limits: { ...rest.limits, ...bound },
  };
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

function maximum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : Math.max(one, other);
}
