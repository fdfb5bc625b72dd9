import { type Effect, effectsOf, type RunState } from "../core/index.ts";
import type { Pause } from "../journal/index.ts";

/**
 * Until when there is nothing to do but wait for people or a provider, so that recovery need not read the run to find that out.
 *
 * `head`: how many entries the state was folded from. Undefined for a run with anything else to do.
 */
export function pauseOf(state: RunState, head: number): Pause | undefined {
  const effects = effectsOf(state);
  const expiries = effects.flatMap((effect) => untilOf(effect) ?? []);
  return effects.length > 0 && expiries.length === effects.length ? { head, until: Math.min(...expiries) } : undefined;
}

/** When an effect that only waits is over. */
export function untilOf(effect: Effect): number | undefined {
  if (effect.type === "await_approval") return effect.expiresAt;
  return effect.type === "await_retry" ? effect.notBefore : undefined;
}
