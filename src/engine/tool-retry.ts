import type { RecoveryClass } from "../core/index.ts";
import type { ToolResult } from "../tool/index.ts";
import type { Bounded } from "./bounded.ts";
import type { Kit } from "./kit.ts";

/** Attempts in all that one start of a call makes of a far side that is busy. */
const ATTEMPTS_MAX = 4;
const DELAY_MS = 250;

/**
 * Calls a tool again that said it took nothing up, under the same key, within the time that one call may take.
 *
 * What it says last is the outcome: a model that is told "throttled" may still ask again later.
 */
export async function untilTaken(
  { bounded, isThrottled, NEVER }: Kit,
  first: Bounded<ToolResult>,
  attempt: () => Promise<Bounded<ToolResult>>,
  {
    timeoutMs,
    recovery,
    signal,
  }: { readonly timeoutMs: number; readonly recovery: RecoveryClass; readonly signal: AbortSignal },
): Promise<Bounded<ToolResult>> {
  const until = performance.now() + timeoutMs;
  let ended = first;
  for (let attempts = 1; attempts < ATTEMPTS_MAX && isThrottled(ended, recovery) && !signal.aborted; attempts += 1) {
    const bound = DELAY_MS * 2 ** (attempts - 1);
    // Half of it is drawn, so that calls which were refused together do not come back together.
    const waitMs = Math.max(retryAfterMs(ended), bound / 2 + (bound / 2) * Math.random());
    if (performance.now() + waitMs > until) return ended;
    const waited = await bounded(() => NEVER, { timeoutMs: waitMs, signal });
    if (waited.status === "aborted") return ended;
    ended = await attempt();
  }
  return ended;
}

/** What the tool asks to wait, in `details.retryAfterMs`. */
function retryAfterMs(ended: Bounded<ToolResult>): number {
  if (ended.status !== "done" || ended.value.ok) return 0;
  const { details } = ended.value.error;
  if (typeof details !== "object" || details === null || Array.isArray(details)) return 0;
  const wait = (details as Readonly<Record<string, unknown>>)["retryAfterMs"];
  return typeof wait === "number" && wait > 0 ? wait : 0;
}
