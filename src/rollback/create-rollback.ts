import { AsyncLocalStorage } from "node:async_hooks";
import { BelayError } from "../errors.ts";
import { restore, type Snapshot, takeSnapshot } from "./snapshot.ts";

export interface RollbackOptions {
  /** Most operations per state that can still be taken back; older ones count as confirmed. Default 100. */
  readonly snapshotsMax?: number;
}

/** Snapshots of states in memory, so that an operation happens whole or not at all, and can be taken back after it. */
export interface Rollback {
  /**
   * Runs an operation on a state. What it throws is thrown on, with the state as it was before.
   *
   * Operations on one state run one after the other; one inside another belongs to it.
   */
  transaction<Value>(state: object, operation: string, work: () => Value | Promise<Value>): Promise<Value>;
  /** The same for work without a promise. Throws `BELAY_STATE_BUSY` while another operation is under way. */
  transactionSync<Value>(state: object, operation: string, work: () => Value): Value;
  /** Takes the last operation back and gives its name, or `null` when none is left. */
  rollbackLast(state: object): string | null;
  /** Names of the operations that can be taken back, oldest first. */
  pending(state: object): readonly string[];
  /** Lets the snapshots of a state go; gives their number. What was done stays done. */
  confirm(state: object): number;
}

interface Kept {
  readonly operation: string;
  readonly before: Snapshot;
}

interface Tracked {
  readonly kept: Kept[];
  /** Ends with the operation that is last in the queue. */
  tail: Promise<unknown>;
  running: number;
}

/**
 * Creates a keeper of snapshots.
 *
 * Its methods throw `BELAY_STATE_INVALID` for a state that could not be put back, before anything is done to it.
 */
export function createRollback({ snapshotsMax = 100 }: RollbackOptions = {}): Rollback {
  if (!Number.isSafeInteger(snapshotsMax) || snapshotsMax < 1) {
    throw new BelayError("BELAY_LIMIT_INVALID", `snapshotsMax is ${snapshotsMax}; use a whole number from 1`);
  }
  const states = new WeakMap<object, Tracked>();
  /** States whose operation the current code is part of. */
  const inside = new AsyncLocalStorage<ReadonlySet<object>>();
  const trackedOf = (state: object): Tracked => {
    const known = states.get(state);
    if (known !== undefined) return known;
    const tracked: Tracked = { kept: [], tail: Promise.resolve(), running: 0 };
    states.set(state, tracked);
    return tracked;
  };
  const isInside = (state: object): boolean => inside.getStore()?.has(state) === true;
  const enter = <Value>(state: object, work: () => Value): Value =>
    inside.run(new Set([...(inside.getStore() ?? []), state]), work);
  const keep = ({ kept }: Tracked, entry: Kept): void => {
    kept.push(entry);
    if (kept.length > snapshotsMax) kept.shift();
  };
  const refuseWhileBusy = (state: object, tracked: Tracked): void => {
    if (tracked.running === 0 || isInside(state)) return;
    throw new BelayError(
      "BELAY_STATE_BUSY",
      "An operation on this state is under way and would be mixed up with this one. Await it first.",
    );
  };

  async function run<Value>(state: object, operation: string, work: () => Value | Promise<Value>): Promise<Value> {
    const tracked = trackedOf(state);
    const before = takeSnapshot(state);
    const place = tracked.kept.length;
    tracked.running += 1;
    try {
      const value = await enter(state, work);
      keep(tracked, { operation, before });
      return value;
    } catch (error) {
      takeBack(state, tracked, place, before);
      throw error;
    } finally {
      tracked.running -= 1;
    }
  }

  return {
    transaction: (state, operation, work) => {
      if (isInside(state)) return run(state, operation, work);
      const tracked = trackedOf(state);
      const done = tracked.tail.then(() => run(state, operation, work));
      tracked.tail = done.catch(() => undefined);
      return done;
    },
    transactionSync: (state, operation, work) => {
      const tracked = trackedOf(state);
      refuseWhileBusy(state, tracked);
      const before = takeSnapshot(state);
      const place = tracked.kept.length;
      try {
        const value = enter(state, work);
        refusePromise(value);
        keep(tracked, { operation, before });
        return value;
      } catch (error) {
        takeBack(state, tracked, place, before);
        throw error;
      }
    },
    rollbackLast: (state) => {
      const tracked = trackedOf(state);
      refuseWhileBusy(state, tracked);
      const last = tracked.kept.pop();
      if (last === undefined) return null;
      restore(state, last.before);
      return last.operation;
    },
    pending: (state) => trackedOf(state).kept.map(({ operation }) => operation),
    confirm: (state) => trackedOf(state).kept.splice(0).length,
  };
}

/** Puts a state back, and forgets the operations inside the one that failed: they are undone with it. */
function takeBack(state: object, { kept }: Tracked, place: number, before: Snapshot): void {
  restore(state, before);
  kept.length = Math.min(kept.length, place);
}

function refusePromise(value: unknown): void {
  if (typeof value !== "object" || value === null || !("then" in value)) return;
  if (value instanceof Promise) value.catch(() => undefined);
  throw new BelayError(
    "BELAY_TRANSACTION_ASYNC",
    "The work of a synchronous transaction gave a promise. Use transaction(), which waits for it.",
  );
}
