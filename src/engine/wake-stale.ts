import type { Store } from "../journal/index.ts";
import type { Waker } from "./waker.ts";

export interface WakeStaleOptions {
  readonly now: number;
  /** A run that somebody wrote to since is left alone: its own wakes are on their way. */
  readonly staleMs: number;
  /** Only runs of these agents. Default all. */
  readonly agents?: Pick<ReadonlySet<string>, "has">;
  readonly signal?: AbortSignal;
}

/**
 * Sends a wake for each unfinished run that nobody has written to for `staleMs`: one whose wake was never stored.
 *
 * For wakers that survive their process. What they were given comes by itself, so a worker that starts beside a
 * hundred others takes nothing out of their hands and reads no run; a second wake of the same kind is dropped.
 */
export async function wakeStale(store: Store, waker: Waker, options: WakeStaleOptions): Promise<number> {
  return (await import("./stale-runs.ts")).wakeStaleRuns(store, waker, options);
}
