import type { RunKey } from "../journal/index.ts";

/** A reason to look at a run again. It carries no state, so losing order or arriving twice is harmless. */
export interface Wake {
  readonly run: RunKey;
  readonly why: "start" | "approval" | "expiry" | "retry" | "message";
  /** A second wake with the same key is dropped. */
  readonly key: string;
  /** Milliseconds since the epoch; absent: now. */
  readonly notBefore?: number;
}

/**
 * Durable, delayable, per-run serial delivery of wakes to whichever worker is alive.
 *
 * Safety never depends on it: the store's compare-and-set alone decides what happens.
 */
export interface Waker {
  /** Durable when it resolves. */
  wake(wake: Wake): Promise<void>;
  /** Delivers due wakes, one at a time per run; a wake whose handler throws comes again. */
  serve(advance: (wake: Wake, signal: AbortSignal) => Promise<void>): Promise<{ close(): Promise<void> }>;
  /** Stated, and checked by the conformance suite. */
  readonly promises: {
    readonly serialPerRun: boolean;
    readonly redeliveryMs: number;
    readonly survives: "process" | "machine";
  };
}
