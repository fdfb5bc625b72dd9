import type { Entry, RunEvent } from "../core/index.ts";
import type { CommitResult } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { withoutRefused } from "./points-of-call.ts";

/** What is left of entries whose commit met `newer` ones: nothing, when those are its own. */
export function afterConflict(
  { kit }: EngineContext,
  entries: readonly Entry[],
  newer: readonly Entry[],
): readonly RunEvent[] {
  const textOf = (event: RunEvent | undefined): string | undefined => {
    const canonical = kit.core.canonicalize(event);
    return canonical.ok ? canonical.text : undefined;
  };
  // A commit that was written and not answered comes back as a conflict with itself.
  const isWritten = entries.every(
    ({ at, event }, index) => newer[index]?.at === at && textOf(newer[index]?.event) === textOf(event),
  );
  return isWritten ? [] : eventsOf(entries);
}

/** What is left of entries whose commit a shared budget refused. */
export function afterRefusal(
  entries: readonly Entry[],
  refused: Extract<CommitResult, { status: "refused" }>,
): readonly RunEvent[] {
  return withoutRefused(eventsOf(entries), refused);
}

function eventsOf(entries: readonly Entry[]): readonly RunEvent[] {
  return entries.map(({ event }) => event);
}
