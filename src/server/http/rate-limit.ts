import type { Clock } from "../../clock.ts";
import { HttpProblem } from "./problem.ts";

export interface RateLimit {
  /** Requests that may come at once. */
  readonly burst: number;
  readonly perMinute: number;
}

/** Lets through as many requests of one key as its limit says. */
export interface RateLimiter {
  /** Throws `BELAY_RATE_LIMITED` with `Retry-After` when the key has nothing left. */
  take(key: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

// A flood of addresses must not fill the memory: the oldest are forgotten, which only ever allows more.
const KEYS_MAX = 10_000;

/** Creates a token bucket for each key; a full one is forgotten. */
export function createRateLimiter(limit: RateLimit, clock: Clock): RateLimiter {
  const buckets = new Map<string, Bucket>();
  const perMs = limit.perMinute / 60_000;
  return {
    take(key) {
      const now = clock.now();
      const known = buckets.get(key);
      const rested = known === undefined ? limit.burst : known.tokens + Math.max(0, now - known.at) * perMs;
      const tokens = Math.min(limit.burst, rested);
      // Set again at the end, so that the order of the map is that of the last use.
      buckets.delete(key);
      buckets.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
      for (const oldest of buckets.keys()) {
        if (buckets.size <= KEYS_MAX) break;
        buckets.delete(oldest);
      }
      if (tokens < 1) {
        throw limited(Math.max(1, Math.ceil((1 - tokens) / perMs / 1000)));
      }
    },
  };
}

function limited(seconds: number): HttpProblem {
  return new HttpProblem("BELAY_RATE_LIMITED", `too many requests; wait ${seconds} seconds`, {
    headers: { "retry-after": String(seconds) },
    members: { retryAfterS: seconds },
  });
}
