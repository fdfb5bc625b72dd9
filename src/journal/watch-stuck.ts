import type { Clock } from "../clock.ts";
import type { Store } from "./store.ts";
import { findStuckRuns, type StuckRun } from "./stuck-runs.ts";

/** When somebody should look at a run, in milliseconds. Every default is here. */
export const STUCK: { readonly lookMs: number; readonly notTakenMs: number; readonly stuckMs: number } = {
  /** How often a worker looks for runs that stand still. */
  lookMs: 30_000,
  /** Longest time that a new run or a person's yes may lie before a worker takes it up. */
  notTakenMs: 60_000,
  /** Longest time without an entry in a run that a worker has begun; at least twice the longest call of the agent. */
  stuckMs: 300_000,
};

/** Somebody who is told of runs that stand still. */
export interface StuckWatcher {
  readonly clock: Clock;
  /** Whose runs it is told of. A run that two watchers of a store know is told to the first of them. */
  readonly knows: (agent: string) => boolean;
  /** How often to look, in milliseconds; the first watcher of a store says. */
  readonly lookMs: number;
  /** Longest time that a new run or a person's yes may lie, in milliseconds. */
  readonly notTakenMs: number;
  /** Longest time without an entry in a run that was begun, in milliseconds. */
  readonly stuckMs: number;
  /** Called once for each standstill. */
  readonly onStuck: (run: StuckRun) => void;
}

/** A watcher with the defaults. `longestCallMs`: longest call of a model or a tool of its agent. */
export function stuckWatcher(
  watcher: Pick<StuckWatcher, "clock" | "knows" | "onStuck">,
  longestCallMs: number,
): StuckWatcher {
  return { ...STUCK, ...watcher, stuckMs: Math.max(STUCK.stuckMs, 2 * longestCallMs) };
}

interface Watch {
  readonly watchers: Set<StuckWatcher>;
  readonly told: Set<string>;
  readonly stop: AbortController;
}

const watches = new WeakMap<Store, Watch>();

/**
 * Looks for runs that stand still until the signal aborts, and tells of each standstill once.
 *
 * All who watch one store in a process share the look, so that ten apps cost no more than one. Keeps no process alive.
 */
export function watchStuck(store: Store, watcher: StuckWatcher, signal: AbortSignal): void {
  if (signal.aborted) return;
  const watch = watches.get(store) ?? begin(store, watcher.lookMs);
  watch.watchers.add(watcher);
  const leave = (): void => {
    watch.watchers.delete(watcher);
    if (watch.watchers.size > 0) return;
    watch.stop.abort();
    watches.delete(store);
  };
  signal.addEventListener("abort", leave, { once: true });
}

function begin(store: Store, lookMs: number): Watch {
  const watch: Watch = { watchers: new Set(), told: new Set(), stop: new AbortController() };
  watches.set(store, watch);
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look(store, watch)
      // The store is not there; whoever needs it says so, and the next look asks again.
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  }, lookMs);
  timer.unref();
  watch.stop.signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  return watch;
}

async function look(store: Store, { watchers, told, stop: { signal } }: Watch): Promise<void> {
  const all = [...watchers];
  const [first] = all;
  if (first === undefined) return;
  const watcherOf = (agent: string): StuckWatcher | undefined => all.find(({ knows }) => knows(agent));
  const found = await findStuckRuns(store, {
    now: first.clock.now(),
    notTakenMs: Math.min(...all.map(({ notTakenMs }) => notTakenMs)),
    stuckMs: Math.min(...all.map(({ stuckMs }) => stuckMs)),
    agents: { has: (agent) => watcherOf(agent) !== undefined },
    signal,
  });
  if (signal.aborted) return;
  const names = new Set(found.map(nameOf));
  for (const name of told) if (!names.has(name)) told.delete(name);
  for (const run of found) {
    const watcher = watcherOf(run.agent);
    const longestMs = run.problem === "stuck" ? watcher?.stuckMs : watcher?.notTakenMs;
    if (longestMs === undefined || run.forMs < longestMs || told.has(nameOf(run))) continue;
    told.add(nameOf(run));
    watcher?.onStuck(run);
  }
}

function nameOf({ tenant, runId, head }: StuckRun): string {
  return JSON.stringify([tenant, runId, head]);
}

const CODES = { approved_not_taken: "APPROVED_NOT_TAKEN", not_taken: "RUN_NOT_TAKEN", stuck: "RUN_STUCK" } as const;

const SAYINGS: Readonly<Record<StuckRun["problem"], string>> = {
  approved_not_taken: "a person answered and no worker has acted on it",
  not_taken: "no worker has begun",
  stuck: "no worker has gone on",
};

/** A standstill as an alarm says it. */
export function stuckAlarm({ runId, problem, forMs }: StuckRun): {
  readonly code: (typeof CODES)[StuckRun["problem"]];
  readonly detail: string;
} {
  return { code: CODES[problem], detail: `run ${runId}: ${SAYINGS[problem]} for ${Math.round(forMs / 1000)} s` };
}
