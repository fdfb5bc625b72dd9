import type { Clock } from "../clock.ts";
import { createHeap, type Heap } from "./heap.ts";
import type { Wake, Waker } from "./waker.ts";

// Its own, because it is loaded on demand: what the root entry has too would cut that into pieces.
const SYSTEM_CLOCK: Clock = { now: () => Date.now() };

// setTimeout takes 32 bits; a longer delay would fire at once.
const TIMEOUT_MS_MAX = 2_147_483_647;

export interface InProcessWakerOptions {
  readonly clock?: Clock;
  /** Longest pause before a wake whose handler threw comes again. Default 1,000. */
  readonly redeliveryMs?: number;
}

type Advance = (wake: Wake, signal: AbortSignal) => Promise<void>;

interface Pending {
  readonly wake: Wake;
  /** In the order in which they were sent. */
  readonly number: number;
  dueAt: number;
  attempts: number;
  isRunning: boolean;
  /** Set when the same key was sent while its handler ran: what it said may be new. */
  againAt: number | undefined;
}

/** Wakes of one run that are due; one at a time is delivered. */
interface RunQueue {
  isRunning: boolean;
  readonly due: Heap<Pending>;
}

/** Every wake that is not done. What one look costs follows what is due, not what waits. */
interface Wakes {
  readonly byKey: Map<string, Pending>;
  /** Not due at the last look. */
  readonly later: Heap<Pending>;
  readonly runs: Map<string, RunQueue>;
  /** Runs with something due that nobody advances. */
  readonly ready: Set<RunQueue>;
  sent: number;
}

interface Server {
  readonly advance: Advance;
  readonly stop: AbortController;
  readonly deliveries: Set<Promise<void>>;
}

/**
 * Creates a waker that lives as long as the process. Its timers do not keep the process alive.
 *
 * Wakes sent before `serve` wait for it. After a crash `harness.recover()` finds what was lost.
 */
export function createInProcessWaker(options: InProcessWakerOptions = {}): Waker {
  const { clock = SYSTEM_CLOCK, redeliveryMs = 1000 } = options;
  const wakes: Wakes = { byKey: new Map(), later: createHeap(isDueBefore), runs: new Map(), ready: new Set(), sent: 0 };
  const servers: Server[] = [];
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    clearTimeout(timer);
    const server = servers[0];
    if (server === undefined) return;
    const now = clock.now();
    for (const item of takeDue(wakes, now)) start(server, item);
    const next = wakes.later.peek();
    if (next !== undefined) {
      timer = setTimeout(look, Math.min(Math.max(1, next.dueAt - now), TIMEOUT_MS_MAX)).unref();
    }
  };
  const start = (server: Server, item: Pending): void => {
    item.attempts += 1;
    const { signal } = server.stop;
    const delivery = deliver(server.advance, item.wake, signal).then((isDone) => {
      server.deliveries.delete(delivery);
      finish(wakes, item, isDone, clock.now() + pauseMs(item.attempts, redeliveryMs));
      look();
    });
    server.deliveries.add(delivery);
  };
  return {
    promises: { serialPerRun: true, redeliveryMs, survives: "process" },
    wake: async (wake) => {
      add(wakes, wake, clock.now());
      queueMicrotask(look);
    },
    serve: async (advance) => {
      const server: Server = { advance, stop: new AbortController(), deliveries: new Set() };
      servers.push(server);
      queueMicrotask(look);
      return {
        close: async () => {
          servers.splice(servers.indexOf(server), 1);
          clearTimeout(timer);
          server.stop.abort();
          // Whoever else serves takes over.
          look();
          await Promise.all(server.deliveries);
        },
      };
    },
  };
}

function isDueBefore(one: Pending, other: Pending): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && isSentBefore(one, other));
}

function isSentBefore(one: Pending, other: Pending): boolean {
  return one.number < other.number;
}

function add(wakes: Wakes, wake: Wake, now: number): void {
  const dueAt = wake.notBefore ?? now;
  const before = wakes.byKey.get(wake.key);
  if (before === undefined) {
    wakes.sent += 1;
    const own = { ...wake, run: { ...wake.run } };
    const item = { wake: own, number: wakes.sent, dueAt, attempts: 0, isRunning: false, againAt: undefined };
    wakes.byKey.set(wake.key, item);
    wakes.later.push(item);
  } else if (before.isRunning) {
    before.againAt = Math.min(before.againAt ?? dueAt, dueAt);
  }
}

/** Due wakes in the order in which they were sent: at most one of each run and none of a run that is being advanced. */
function takeDue(wakes: Wakes, now: number): readonly Pending[] {
  const { later, ready } = wakes;
  for (let next = later.peek(); next !== undefined && next.dueAt <= now; next = later.peek()) {
    later.pop();
    const queue = queueOf(wakes, next);
    queue.due.push(next);
    if (!queue.isRunning) ready.add(queue);
  }
  const taken: Pending[] = [];
  for (const queue of ready) {
    const item = queue.due.pop();
    if (item === undefined) continue;
    queue.isRunning = true;
    item.isRunning = true;
    taken.push(item);
  }
  ready.clear();
  return taken.sort((one, other) => one.number - other.number);
}

/** A wake that was not acted on to the end, or was sent again meanwhile, stays. */
function finish(wakes: Wakes, item: Pending, isDone: boolean, retryAt: number): void {
  const queue = queueOf(wakes, item);
  item.isRunning = false;
  queue.isRunning = false;
  if (isDone && item.againAt === undefined) {
    wakes.byKey.delete(item.wake.key);
  } else {
    item.dueAt = isDone ? (item.againAt ?? 0) : retryAt;
    item.attempts = isDone ? 0 : item.attempts;
    item.againAt = undefined;
    wakes.later.push(item);
  }
  if (queue.due.size > 0) wakes.ready.add(queue);
  else wakes.runs.delete(runName(item));
}

function queueOf({ runs }: Wakes, item: Pending): RunQueue {
  const name = runName(item);
  let queue = runs.get(name);
  if (queue === undefined) {
    queue = { isRunning: false, due: createHeap(isSentBefore) };
    runs.set(name, queue);
  }
  return queue;
}

function runName({ wake }: Pending): string {
  return JSON.stringify([wake.run.tenant, wake.run.runId]);
}

/** True when the handler finished and was not told to stop before it may have looked. */
async function deliver(advance: Advance, wake: Wake, signal: AbortSignal): Promise<boolean> {
  try {
    await advance(wake, signal);
    return !signal.aborted;
  } catch {
    return false;
  }
}

function pauseMs(attempts: number, redeliveryMs: number): number {
  return Math.min(10 * 2 ** Math.min(attempts, 20), redeliveryMs);
}
