import type { RunState } from "../core/index.ts";
import type { RunKey, RunRow, Store } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { EngineContext } from "./context.ts";
import { isOtherModel } from "./other-model.ts";

const PAGE = 500;

// Runs that go on together share their disk writes.
const CONCURRENCY = 8;

/**
 * Advances every unfinished run of the agent once: what a crash left running, and questions that have expired.
 *
 * A run that a worker has left to wait for people is not even read before its question expires.
 */
export async function recoverAll(
  context: EngineContext,
  active: ActiveRuns,
  options: { readonly signal?: AbortSignal },
): Promise<number> {
  let count = 0;
  const rows = unfinishedRuns(context.store, context.clock.now(), options.signal);
  const goOn = async (): Promise<void> => {
    for (let next = await rows.next(); next.done !== true; next = await rows.next()) {
      const { value: row } = next;
      if (row.agent !== context.agent.name) continue;
      count += 1;
      try {
        const { status, state } = await active.advance(row, options);
        if (row.status === "waiting" && status === "waiting") await notePause(context, row, state);
      } catch (cause) {
        // One run that cannot go on must not keep the others from it.
        tell(context, row, cause);
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, goOn));
  return count;
}

function tell(context: EngineContext, run: RunRow, cause: unknown): void {
  if (isOtherModel(context, cause)) return;
  context.alarm({ code: "RUN_FAILED", run, detail: `run ${run.runId} could not go on`, cause });
}

/** Of a run that nobody has left with a pause, such as one whose worker died after its last commit. */
async function notePause(
  { kit, store, worker, leaseMs, clock }: EngineContext,
  row: RunRow,
  state: RunState,
): Promise<void> {
  // The store takes it only while the run is what the row says, which is what the state was folded from.
  const pause = kit.pauseOf(state, row.head);
  if (pause === undefined) return;
  // A name of its own: who drives the run in this process meanwhile must not lose its lease to a note.
  const owner = `${worker}:pause`;
  const lease = await store.acquireLease(row, owner, leaseMs, clock.now());
  if (lease.status === "held") await store.releaseLease(row, owner, pause);
}

/** Unfinished runs of every agent, but those that are paused for longer than `now`. */
export async function* unfinishedRuns(
  store: Store,
  now: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunRow, void> {
  let after: RunKey | undefined;
  do {
    const page = await store.unfinished(PAGE, after, now);
    for (const row of page) {
      if (signal?.aborted === true) return;
      yield row;
    }
    after = page.at(-1);
  } while (after !== undefined);
}
