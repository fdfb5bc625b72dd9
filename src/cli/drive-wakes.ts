import { systemClock } from "../clock.ts";
import { type Agent, type Harness, type Waker, wakeStale } from "../engine/index.ts";
import { undoneAgentName } from "../gate/index.ts";
import {
  isReservation,
  type RunKey,
  type Store,
  type StuckRun,
  stuckAlarm,
  stuckWatcher,
  watchStuck,
} from "../journal/index.ts";

const SWEEP_MS = 60_000;
/** As the engine's default for a model, which is longer than that of a tool. */
const LONGEST_CALL_MS = 120_000;

/** The runs that a process of this project goes on with, and how it says what is wrong. */
export interface DrivenRuns {
  readonly store: Store;
  readonly agents: readonly Agent[];
  readonly onAlarm: (text: string) => void;
}

/** Goes on with the run of a wake-up; `false` when the wake-up has to come again, to this process or to another one. */
export async function advanceWake(
  store: Store,
  harnessOf: (agent: string) => Harness | undefined,
  run: RunKey,
  signal: AbortSignal,
): Promise<boolean> {
  const row = await store.run(run);
  // Points that somebody holds are theirs to settle.
  if (row === undefined || (await isReservation(store, row))) return true;
  const harness = harnessOf(row.agent);
  // It comes again, and then perhaps to a worker whose configuration has the app.
  if (harness === undefined) return false;
  const { status } = await harness.advance(run, { signal });
  // Whoever holds the lease may be dead. Unless the wake comes again, nobody goes on when the lease has run out.
  return status !== "busy";
}

/** Wakes runs whose wake-up was never stored, now and each minute until the signal aborts. */
export function keepSweeping(
  { store, agents }: DrivenRuns,
  waker: Waker,
  leaseMs: number,
  { signal, isLater = false }: { readonly signal: AbortSignal; readonly isLater?: boolean },
): void {
  const sweep = (): void => {
    const known = { has: (agent: string) => agents.some((own) => isOf(own, agent)) };
    // What fails is tried again at the next look.
    wakeStale(store, waker, { now: Date.now(), staleMs: 2 * leaseMs, agents: known, signal }).catch(() => undefined);
  };
  if (signal.aborted) return;
  const sweeping = setInterval(sweep, SWEEP_MS);
  signal.addEventListener("abort", () => clearInterval(sweeping), { once: true });
  if (!isLater) sweep();
}

/** Says of each run that stands still, once, until the signal aborts. */
export function watchApps({ store, agents, onAlarm }: DrivenRuns, signal: AbortSignal): void {
  for (const agent of agents) {
    const longestMs = Math.max(LONGEST_CALL_MS, ...agent.tools.map(({ timeoutMs = 0 }) => timeoutMs));
    const watcher = {
      clock: systemClock,
      knows: (name: string) => isOf(agent, name),
      onStuck: (run: StuckRun) => {
        const { code, detail } = stuckAlarm(run);
        onAlarm(`${code}: ${detail}`);
      },
    };
    watchStuck(store, stuckWatcher(watcher, longestMs), signal);
  }
}

/** Runs of the agent, and those that take back what it did. */
function isOf({ name }: Agent, agent: string): boolean {
  return agent === name || undoneAgentName(agent) === name;
}
