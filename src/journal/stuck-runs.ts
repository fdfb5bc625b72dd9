import { ACCOUNT_SUFFIX, isReservationEntry } from "./reservation.ts";
import type { RunKey, RunRow, Store } from "./store.ts";

/** A run that somebody should have gone on with. */
export interface StuckRun extends RunKey {
  readonly agent: string;
  /** `approved_not_taken`: a person said yes and nothing follows. `not_taken`: nobody began. `stuck`: nobody goes on. */
  readonly problem: "approved_not_taken" | "not_taken" | "stuck";
  /** Milliseconds since its last entry. */
  readonly forMs: number;
  /** Number of that entry; a run that moves has another one. */
  readonly head: number;
}

export interface StuckRunsOptions {
  readonly now: number;
  /** Longest time that a new run or a person's yes may lie, in milliseconds. */
  readonly notTakenMs: number;
  /** Longest time without an entry in a run that was begun, in milliseconds. */
  readonly stuckMs: number;
  /** Only runs of these agents. Default all. */
  readonly agents?: Pick<ReadonlySet<string>, "has">;
  readonly signal?: AbortSignal;
}

const PAGE = 500;

/**
 * Finds runs that stand still, from the index of unfinished runs and the last entry of those that are old.
 *
 * An open reservation of points is no such run: whoever made it closes it. No run is folded, and runs that wait for people are not read; what it costs follows the number of runs in motion.
 */
export async function findStuckRuns(store: Store, options: StuckRunsOptions): Promise<readonly StuckRun[]> {
  const stuck: StuckRun[] = [];
  let after: RunKey | undefined;
  do {
    const page: readonly RunRow[] = await store.unfinished(PAGE, after, options.now);
    for (const row of page) {
      if (options.signal?.aborted === true) return stuck;
      if (options.agents?.has(row.agent) === false) continue;
      const found = await stuckRun(store, row, options);
      if (found !== undefined) stuck.push(found);
    }
    after = page.at(-1);
  } while (after !== undefined);
  return stuck;
}

async function stuckRun(store: Store, row: RunRow, options: StuckRunsOptions): Promise<StuckRun | undefined> {
  const { tenant, runId, agent, head, updatedAt, status } = row;
  const forMs = options.now - updatedAt;
  if (forMs < Math.min(options.notTakenMs, options.stuckMs)) return undefined;
  const last = (await store.read({ tenant, runId }, head - 1))[0]?.event;
  if (agent.endsWith(ACCOUNT_SUFFIX) && isReservationEntry(last)) return undefined;
  const found = { tenant, runId, agent, forMs, head };
  switch (last?.type) {
    case "approval.resolved":
      return forMs < options.notTakenMs ? undefined : { ...found, problem: "approved_not_taken" };
    case "run.started":
    case "run.cancel_requested":
    case "message.queued":
      // Waiting: the message lies behind a question, where it belongs.
      return forMs < options.notTakenMs || status === "waiting" ? undefined : { ...found, problem: "not_taken" };
    default:
      return forMs < options.stuckMs || status === "waiting" ? undefined : { ...found, problem: "stuck" };
  }
}
