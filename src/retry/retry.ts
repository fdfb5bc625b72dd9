import { setTimeout as wait } from "node:timers/promises";
import { BelayError } from "../errors.ts";

export interface RetryOptions {
  /** Attempts in all, 1 to 10. Default 4. */
  readonly attemptsMax?: number;
  /** Bound of the first delay, which doubles each time. Default 500. */
  readonly delayMs?: number;
  /** No delay is longer, and a provider that asks for more is not asked again. Default 20,000. */
  readonly delayMaxMs?: number;
  /** Waits; rejects when `signal` aborts. Default a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
  /** From 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

export type RetryPlan = Required<RetryOptions>;

/** What of a failed attempt says whether another one is of use. */
export interface RetryableFailure {
  readonly isRetryable: boolean;
  /** The shortest wait that the provider asks for. */
  readonly retryAfterMs?: number;
}

/** Throws `BELAY_MODEL_INVALID` for numbers that cannot be used. */
export function retryPlan(options: RetryOptions = {}): RetryPlan {
  const plan: RetryPlan = {
    attemptsMax: 4,
    delayMs: 500,
    delayMaxMs: 20_000,
    wait: async (delayMs, signal) => {
      await wait(delayMs, undefined, { signal });
    },
    random: Math.random,
    ...options,
  };
  checkNumber("attemptsMax", plan.attemptsMax, 1, 10);
  checkNumber("delayMs", plan.delayMs, 0, 600_000);
  checkNumber("delayMaxMs", plan.delayMaxMs, 0, 600_000);
  return plan;
}

/**
 * How long to wait after so many failed attempts, or nothing when it is no use to go on.
 *
 * Drawn from the whole range up to its bound, so that callers who failed together do not come back together; never
 * shorter than the provider asks for.
 */
export function nextDelayMs(plan: RetryPlan, failure: RetryableFailure, attempts: number): number | undefined {
  const { retryAfterMs = 0 } = failure;
  if (!failure.isRetryable || attempts >= plan.attemptsMax || retryAfterMs > plan.delayMaxMs) {
    return undefined;
  }
  const bound = Math.min(plan.delayMaxMs, plan.delayMs * 2 ** (attempts - 1));
  return Math.max(retryAfterMs, Math.floor(plan.random() * bound));
}

/** Waits before the next attempt. Throws the signal's own reason when that aborts, and not the timer's words for it. */
export async function waitOrAbort(plan: RetryPlan, delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await plan.wait(delayMs, signal);
  } finally {
    signal.throwIfAborted();
  }
}

function checkNumber(name: string, value: number, least: number, most: number): void {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new BelayError(
      "BELAY_MODEL_INVALID",
      `The retry option ${name} is ${String(value)}. Use a whole number from ${least} to ${most}.`,
    );
  }
}
