import type { Principal } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunRow, Store } from "./store.ts";

const PAGE = 200;

// So many runs at once share a disk write.
const AT_ONCE = 16;

const DAY_MS = 86_400_000;

export interface RetireRunsOptions {
  readonly tenant: string;
  /** A run that was written to since is kept, and so is its conversation. At least one day. */
  readonly olderThanMs: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Who wants it; recorded with each run. */
  readonly by: Principal;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

export interface RetireRunsResult {
  readonly runs: number;
  readonly events: number;
  readonly blobs: number;
  /** Of events and blobs as stored. */
  readonly bytes: number;
  /** Runs old enough that are kept all the same, by the reason. */
  readonly kept: Readonly<Record<string, number>>;
}

/**
 * Removes the events, inbox lines and blobs of ended runs of a tenant that were not touched for `olderThanMs`.
 *
 * Of each run one event is left, `run.retired`: who removed what, and the hash that ties it to the run's audit records,
 * which all stay. Each run is one transaction, so a process that dies half way has retired some runs whole and the
 * others not at all, and the next call goes on. Throws `BELAY_RETENTION_UNSUPPORTED` for a store that keeps everything
 * and `BELAY_RETENTION_INVALID` for less than a day.
 */
export async function retireRuns(store: Store, options: RetireRunsOptions): Promise<RetireRunsResult> {
  const { retention } = store;
  if (retention === undefined) {
    throw new BelayError(
      "BELAY_RETENTION_UNSUPPORTED",
      `A store of kind ${store.kind} keeps everything. Use a store with retention: SQLite, PostgreSQL or memory.`,
    );
  }
  const { tenant, olderThanMs, now, by, dryRun = false, signal } = options;
  if (!(olderThanMs >= DAY_MS) || !Number.isSafeInteger(now)) {
    throw new BelayError(
      "BELAY_RETENTION_INVALID",
      `Runs of the last ${String(olderThanMs)} ms cannot be all that is kept: keep at least one day (${DAY_MS} ms).`,
    );
  }
  const cutoff = Math.floor(now - olderThanMs);
  const total = { runs: 0, events: 0, bytes: 0 };
  const kept: Record<string, number> = {};
  const would: RunRow[] = [];
  const retireOne = async (row: RunRow): Promise<void> => {
    const done = await retention.retire({ run: row, cutoff, at: now, by, dryRun });
    if (done.status === "kept") {
      kept[done.reason] = (kept[done.reason] ?? 0) + 1;
      return;
    }
    would.push(row);
    total.runs += 1;
    total.events += done.events;
    total.bytes += done.bytes;
  };
  for await (const page of oldRuns(store, tenant, cutoff)) {
    for (let at = 0; at < page.length; at += AT_ONCE) {
      signal?.throwIfAborted();
      await Promise.all(page.slice(at, at + AT_ONCE).map(retireOne));
    }
  }
  signal?.throwIfAborted();
  // Also what an earlier call has left that did not get this far.
  const { blobs, bytes } = await retention.dropBlobs(dryRun ? would : undefined);
  return { ...total, blobs, bytes: total.bytes + bytes, kept };
}

/** Runs that ended and were not written to since; a run that is retired has no text left to tell it by but its input. */
async function* oldRuns(store: Store, tenant: string, cutoff: number): AsyncGenerator<readonly RunRow[]> {
  let last: RunRow | undefined;
  do {
    const after = last === undefined ? { before: cutoff } : { before: last.startedAt, beforeRunId: last.runId };
    const page = await store.runs({ tenant, limit: PAGE, ...after });
    yield page.filter((row) => row.updatedAt < cutoff);
    last = page.at(-1);
  } while (last !== undefined);
}
