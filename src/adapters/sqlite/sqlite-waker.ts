import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../clock.ts";
import type { Wake, Waker } from "../../engine/index.ts";
import { checkRunKey, type Store } from "../../journal/index.ts";
import { handleOf, type SqliteHandle } from "./sqlite-handle.ts";
import { type Claim, claimWakes, finishWake, hasDueWake, insertWake, prolongClaim, returnWake } from "./wake-table.ts";

export interface SqliteWakerOptions {
  /** How often to look for wakes of other processes. Default 50. */
  readonly pollMs?: number;
  /** How long after a worker's death its wake comes again. Default 15,000. */
  readonly redeliveryMs?: number;
  /** Runs advanced at once by one `serve`. Default 8. */
  readonly concurrency?: number;
  readonly clock?: Clock;
}

type Advance = (wake: Wake, signal: AbortSignal) => Promise<void>;

/**
 * Creates a waker on the file of a SQLite store: wakes survive the process, and any process on the machine may serve.
 *
 * A claim is prolonged while its handler runs, and released at once when the handler throws. The waker uses the
 * store's connection: close what `serve` returned before the store. Throws `BELAY_STORE_MISMATCH` for another store.
 */
export function createSqliteWaker(store: Store, options: SqliteWakerOptions = {}): Waker {
  const { pollMs = 50, redeliveryMs = 15_000, concurrency = 8, clock = systemClock } = options;
  const handle = handleOf(store);
  const nudges = new Set<() => void>();
  return {
    promises: { serialPerRun: true, redeliveryMs, survives: "machine" },
    wake: async (wake) => {
      const run = checkRunKey(wake.run);
      const now = clock.now();
      await handle.write(() => insertWake(handle, { ...wake, run }, now));
      for (const nudge of nudges) {
        nudge();
      }
    },
    serve: async (advance) => {
      const server = createServer({ handle, clock, advance, pollMs, redeliveryMs, concurrency });
      nudges.add(server.nudge);
      server.nudge();
      return {
        close: async () => {
          nudges.delete(server.nudge);
          await server.close();
        },
      };
    },
  };
}

interface ServerOptions {
  readonly handle: SqliteHandle;
  readonly clock: Clock;
  readonly advance: Advance;
  readonly pollMs: number;
  readonly redeliveryMs: number;
  readonly concurrency: number;
}

function createServer(options: ServerOptions): { nudge(): void; close(): Promise<void> } {
  const { handle, clock, pollMs, redeliveryMs, concurrency } = options;
  const owner = randomUUID();
  const stop = new AbortController();
  const deliveries = new Set<Promise<void>>();
  let looking: Promise<void> | undefined;
  let isNudged = false;

  const look = async (): Promise<void> => {
    do {
      isNudged = false;
      const now = clock.now();
      const count = concurrency - deliveries.size;
      if (stop.signal.aborted || count <= 0 || !handle.read(() => hasDueWake(handle, now))) {
        return;
      }
      const until = now + redeliveryMs;
      for (const claim of await handle.write(() => claimWakes(handle, { owner, now, until, count }))) {
        const delivery = deliver(options, owner, claim, stop.signal).finally(() => {
          deliveries.delete(delivery);
          nudge();
        });
        deliveries.add(delivery);
      }
    } while (isNudged);
  };
  const nudge = (): void => {
    isNudged = true;
    // What fails here, such as a locked file, is tried again at the next poll.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  };
  const timer = setInterval(nudge, pollMs);
  return {
    nudge,
    close: async () => {
      clearInterval(timer);
      stop.abort();
      await looking;
      await Promise.all(deliveries);
    },
  };
}

async function deliver(options: ServerOptions, owner: string, claim: Claim, signal: AbortSignal): Promise<void> {
  const { handle, clock, advance, pollMs, redeliveryMs } = options;
  const { wake, attempts } = claim;
  const prolonging = setInterval(
    () => {
      const until = clock.now() + redeliveryMs;
      // A claim that could not be prolonged is delivered again, which is harmless.
      handle.write(() => prolongClaim(handle, wake.key, owner, until)).catch(() => undefined);
    },
    Math.max(1, redeliveryMs / 3),
  );
  const isDone = await advance(wake, signal).then(
    // A handler that was told to stop may not have looked.
    () => !signal.aborted,
    () => false,
  );
  clearInterval(prolonging);
  // A wake that fails again and again must not keep the machine busy.
  const pauseMs = signal.aborted ? 0 : Math.min(pollMs * 2 ** Math.min(attempts, 20), redeliveryMs);
  const dueAt = clock.now() + pauseMs;
  await handle
    .write(() => (isDone ? finishWake(handle, wake.key, owner) : returnWake(handle, wake.key, owner, dueAt)))
    // The claim runs out by itself.
    .catch(() => undefined);
}
