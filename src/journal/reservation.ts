import type { RunEvent } from "../core/index.ts";
import type { RunRow, Store } from "./store.ts";

/** How the agent of every account ends, beside the name of its budget. */
export const ACCOUNT_SUFFIX = "-account";

/**
 * Whether the last entry of a run is a reservation of points that nobody has closed.
 *
 * Whoever reserved does the work elsewhere, so the call was started under no lease, and no worker is to go on with it.
 */
export function isReservationEntry(event: RunEvent | undefined): boolean {
  return event?.type === "call.started" && event.fence === 0 && event.recovery === "opaque";
}

/** The same of an unfinished run in the index; reads an entry only of one whose agent is called like an account. */
export async function isReservation(
  store: Store,
  { tenant, runId, agent, head }: Pick<RunRow, "tenant" | "runId" | "agent" | "head">,
): Promise<boolean> {
  if (!agent.endsWith(ACCOUNT_SUFFIX)) return false;
  return isReservationEntry((await store.read({ tenant, runId }, head - 1))[0]?.event);
}
