import type { RunEvent, RunState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

export type Appended =
  | { readonly status: "appended"; readonly event: RunEvent }
  /** The event would change nothing any more. */
  | { readonly status: "refused"; readonly state: RunState }
  | { readonly status: "unknown_run" };

/**
 * Appends one event from outside the worker, by compare-and-set.
 *
 * Whoever loses the race reads on, folds and asks again: `eventOf` sees the newest state each time.
 */
export async function appendEvent(
  context: EngineContext,
  run: RunKey,
  eventOf: (state: RunState, at: number) => RunEvent,
): Promise<Appended> {
  const { accepts, EVENT_SCHEMA, fold } = context.kit.core;
  for (;;) {
    const entries = await context.store.read(run);
    const state = fold(entries);
    if (state === undefined) return { status: "unknown_run" };
    const at = Math.max(context.clock.now(), state.lastAt);
    const event = eventOf(state, at);
    if (!accepts(state, { at, event }).ok) return { status: "refused", state };
    const result = await context.store.commit({ run, head: entries.length, entries: [{ at, event }] });
    if (result.status !== "committed") continue;
    context.publish(run, [{ at, event, seq: result.head, schema: EVENT_SCHEMA }]);
    return { status: "appended", event };
  }
}
