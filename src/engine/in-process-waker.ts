import { type Clock, systemClock } from "../clock.ts";
import type { Wake, Waker } from "./waker.ts";

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
  dueAt: number;
  attempts: number;
  isRunning: boolean;
  /** Set when the same key was sent while its handler ran: what it said may be new. */
  againAt: number | undefined;
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
  const { clock = systemClock, redeliveryMs = 1000 } = options;
  const pending = new Map<string, Pending>();
  const servers: Server[] = [];
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    clearTimeout(timer);
    const server = servers[0];
    if (server === undefined) {
      return;
    }
    const now = clock.now();
    for (const item of duePerRun(pending, now)) {
      start(server, item);
    }
    arm(now);
  };
  const arm = (now: number): void => {
    const due = [...pending.values()].filter((item) => !item.isRunning && item.dueAt > now);
    if (due.length > 0) {
      const earliest = due.reduce((least, item) => Math.min(least, item.dueAt), Number.POSITIVE_INFINITY);
      timer = setTimeout(look, Math.min(Math.max(1, earliest - now), TIMEOUT_MS_MAX)).unref();
    }
  };
  const start = (server: Server, item: Pending): void => {
    item.isRunning = true;
    item.attempts += 1;
    const { signal } = server.stop;
    const delivery = deliver(server.advance, item.wake, signal).then((isDone) => {
      server.deliveries.delete(delivery);
      item.isRunning = false;
      if (isDone && item.againAt === undefined) {
        pending.delete(item.wake.key);
      } else {
        item.dueAt = isDone ? (item.againAt ?? 0) : clock.now() + pauseMs(item.attempts, redeliveryMs);
        item.attempts = isDone ? 0 : item.attempts;
        item.againAt = undefined;
      }
      look();
    });
    server.deliveries.add(delivery);
  };
  return {
    promises: { serialPerRun: true, redeliveryMs, survives: "process" },
    wake: async (wake) => {
      add(pending, wake, clock.now());
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

function add(pending: Map<string, Pending>, wake: Wake, now: number): void {
  const dueAt = wake.notBefore ?? now;
  const before = pending.get(wake.key);
  if (before === undefined) {
    const own = { ...wake, run: { ...wake.run } };
    pending.set(wake.key, { wake: own, dueAt, attempts: 0, isRunning: false, againAt: undefined });
  } else if (before.isRunning) {
    before.againAt = Math.min(before.againAt ?? dueAt, dueAt);
  }
}

/** Due wakes, at most one of each run and none of a run that is being advanced. */
function duePerRun(pending: ReadonlyMap<string, Pending>, now: number): readonly Pending[] {
  const busy = new Set<string>();
  for (const item of pending.values()) {
    if (item.isRunning) {
      busy.add(runName(item));
    }
  }
  const due: Pending[] = [];
  for (const item of pending.values()) {
    const name = runName(item);
    if (!item.isRunning && item.dueAt <= now && !busy.has(name)) {
      busy.add(name);
      due.push(item);
    }
  }
  return due;
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
