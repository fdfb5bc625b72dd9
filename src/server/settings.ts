import type { RateLimit } from "./http/rate-limit.ts";

/** Bounds of the server; each has a default that suits people and a few programs. */
export interface ServerLimits {
  /** Largest body in bytes. Default 65,536. */
  readonly bodyBytesMax: number;
  /** Milliseconds for a whole request body. Default 10,000. */
  readonly bodyTimeoutMs: number;
  /** Requests of one session or token. Default 300 a minute, 100 at once. */
  readonly perSession: RateLimit;
  /** Requests of one address. Default 600 a minute, 200 at once. */
  readonly perAddress: RateLimit;
  /** Wrong tokens and links of one address. Default 10 a minute, 10 at once. */
  readonly failures: RateLimit;
  /** Messages of one conversation. Default 100. */
  readonly messagesMax: number;
  /** Pause between signs of life on an event stream. Default 15,000. */
  readonly heartbeatMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  bodyBytesMax: 65_536,
  bodyTimeoutMs: 10_000,
  perSession: { burst: 100, perMinute: 300 },
  perAddress: { burst: 200, perMinute: 600 },
  failures: { burst: 10, perMinute: 10 },
  messagesMax: 100,
  heartbeatMs: 15_000,
};
