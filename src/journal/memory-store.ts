import { BelayError } from "../errors.ts";
import { appendRecords } from "./append-records.ts";
import { checkBlob } from "./check-blob.ts";
import { checkClock } from "./clock-guard.ts";
import { createListeners, type Listeners } from "./listeners.ts";
import { createMemoryAudit } from "./memory-audit.ts";
import { memoryApprovals, memoryConversation, memoryRuns, memoryUnfinished } from "./memory-queries.ts";
import { createMemoryRetention } from "./memory-retention.ts";
import { createMemoryTables, type MemoryTables } from "./memory-tables.ts";
import { checkRunKey, type PreparedCommit, prepareCommit } from "./prepare-commit.ts";
import { projectCommit } from "./project-commit.ts";
import {
  CLOCK_TOLERANCE_MS,
  type CommitResult,
  type JournalLine,
  type Lease,
  type Pause,
  type RunKey,
  type Store,
} from "./store.ts";
import { decodeLine } from "./stored-entry.ts";

export interface MemoryStoreOptions {
  /** How much older than the run's newest entry a commit may be. Default 60,000. */
  readonly clockToleranceMs?: number;
}

/**
 * Creates a store that lives as long as the process: for tests, evaluations and programs that may forget.
 *
 * It keeps the same audit log, budgets and approvals as the durable stores. Entries are kept as JSON text, so nothing
 * that a caller holds can change them.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { clockToleranceMs = CLOCK_TOLERANCE_MS } = options;
  const tables = createMemoryTables();
  const listeners = createListeners();
  let isClosed = false;
  const open = (): void => {
    if (isClosed) {
      throw storeClosed("in-memory store");
    }
  };
  const reading = async <Value>(read: () => Value): Promise<Value> => {
    open();
    return copy(read());
  };
  const close = async (): Promise<void> => {
    isClosed = true;
  };
  return {
    kind: "memory",
    commit: async (commit) => {
      open();
      return commitInMemory(tables, listeners, prepareCommit(commit), clockToleranceMs);
    },
    read: async (run, after = 0) => {
      open();
      return (tables.memoryRun(run)?.lines ?? []).filter(({ seq }) => seq > after).map(decodeLine);
    },
    blob: (sha256) => reading(() => checkBlob(sha256, tables.blobs.get(sha256))),
    run: (run) => reading(() => tables.run(run)?.row),
    runs: (query) => reading(() => memoryRuns(tables, query)),
    unfinished: (limit, after, now) => reading(() => memoryUnfinished(tables, limit, after, now)),
    approval: (tenant, approvalId) => reading(() => tables.approval(tenant, approvalId)),
    approvals: (query) => reading(() => memoryApprovals(tables, query)),
    budget: (tenant, budget) => reading(() => tables.budget(tenant, budget)),
    conversation: (tenant, conversationId) => reading(() => memoryConversation(tables, tenant, conversationId)),
    acquireLease: async (run, owner, ttlMs, now) => {
      open();
      return acquireLease(tables, run, { owner, ttlMs, now });
    },
    releaseLease: async (run, owner, pause) => {
      open();
      releaseLease(tables, run, owner, pause);
    },
    audit: createMemoryAudit(tables, open),
    retention: createMemoryRetention(tables, open, (commit) =>
      commitInMemory(tables, listeners, commit, clockToleranceMs),
    ),
    subscribe: (listener) => {
      open();
      return listeners.add(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The error of every use of a store after `close`. */
export function storeClosed(store: string): BelayError {
  return new BelayError("BELAY_STORE_CLOSED", `The ${store} is closed. Open it again, or close it after its last use.`);
}

function commitInMemory(
  tables: MemoryTables,
  listeners: Listeners,
  commit: PreparedCommit,
  clockToleranceMs: number,
): CommitResult {
  const { run } = commit;
  const stored = tables.memoryRun(run);
  const head = stored === undefined ? 0 : stored.removed + stored.lines.length;
  if (head !== commit.head) {
    return { status: "conflict", head };
  }
  const newestAt = checkClock(commit, stored?.newestAt ?? 0, clockToleranceMs);
  const projected = projectCommit(tables, run, head, commit.entries);
  if (projected.status === "refused") {
    return projected;
  }
  const { changes } = projected;
  const { frontier, records } = appendRecords(tables.frontier, commit, projected);
  const lines = commit.entries.map(({ at, schema, text }, index): JournalLine => {
    return { run, seq: head + index + 1, at, schema, text };
  });
  // Nothing below can fail, so a commit is written whole or not at all.
  tables.write(run, lines, newestAt, changes);
  tables.frontier = frontier;
  for (const record of records) {
    tables.records.push({ ...record, run });
  }
  for (const [sha256, text] of commit.blobs) {
    tables.blobs.set(sha256, text);
  }
  listeners.notify(run, lines);
  return { status: "committed", head: head + lines.length };
}

interface LeaseRequest {
  readonly owner: string;
  readonly ttlMs: number;
  readonly now: number;
}

function acquireLease(tables: MemoryTables, key: RunKey, { owner, ttlMs, now }: LeaseRequest): Lease {
  const { tenant, runId } = checkRunKey(key);
  const { leases } = tables.tenant(tenant);
  const lease = leases.get(runId);
  const isLive = lease?.owner !== undefined && lease.until > now;
  if (isLive && lease.owner !== owner) {
    return { status: "busy", until: lease.until };
  }
  const before = lease?.fence ?? 0;
  const fence = isLive ? before : before + 1;
  leases.set(runId, { owner, until: Math.ceil(now + ttlMs), fence });
  return { status: "held", fence };
}

function releaseLease(tables: MemoryTables, key: RunKey, owner: string, pause: Pause | undefined): void {
  const lease = tables.tenants.get(key.tenant)?.leases.get(key.runId);
  if (lease?.owner !== owner) {
    return;
  }
  // The fence stays, so that the next holder gets a larger one.
  lease.owner = undefined;
  const run = tables.memoryRun(key);
  if (run !== undefined && pause !== undefined && run.removed + run.lines.length === pause.head) {
    run.pausedUntil = Math.ceil(pause.until);
  }
}

/** Rows hold JSON only, so this is a faithful copy, and the cheapest one. */
function copy<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value);
}
