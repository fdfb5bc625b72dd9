export { EVENT_SCHEMA } from "../core/index.ts";

import type { AuditEntry } from "../audit/index.ts";
import type { Entry, JsonValue, Principal, RunEvent } from "../core/index.ts";

/** Nothing is ever looked up without its tenant. */
export interface RunKey {
  readonly tenant: string;
  readonly runId: string;
}

/** One event as stored. `seq` counts from 1 within a run; `schema` is the version of the event's shape. */
export interface StoredEntry extends Entry {
  readonly seq: number;
  readonly schema: number;
}

export interface Commit {
  readonly run: RunKey;
  /** Number of entries that the writer has seen; 0 creates the run. Anything else than the stored head is a conflict. */
  readonly head: number;
  readonly entries: readonly Entry[];
  /** Large values, keyed by their SHA-256 in hex; written in the same transaction. */
  readonly blobs?: ReadonlyMap<string, string>;
}

export type CommitResult =
  | { readonly status: "committed"; readonly head: number }
  | { readonly status: "conflict"; readonly head: number }
  /** A `budget.reserved` of the commit does not fit; nothing was written. */
  | {
      readonly status: "refused";
      readonly budget: string;
      readonly available: number;
      /** The first reservation of the commit that has no room. */
      readonly reservationId: string;
    };

export type RunStatus = "running" | "waiting" | "done" | "failed";

/** One line of the run index; a pure function of the run's events. */
export interface RunRow extends RunKey {
  readonly agent: string;
  readonly conversationId: string;
  readonly principal: Principal;
  readonly input: string;
  readonly status: RunStatus;
  /** `terminationCode` of the end; absent while unfinished. */
  readonly termination?: string;
  readonly answer?: string;
  readonly head: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  /** A queued message waits for this ended run to be followed. */
  readonly nextRunId?: string;
  /** Ids of the calls whose outcome nobody knows and nobody has reconciled; absent when there is none. */
  readonly inDoubt?: readonly string[];
}

export type ApprovalStatus = "pending" | "approved" | "rejected" | "expired" | "void";

/** One line of the approvals inbox; a pure function of the run's events. */
export interface ApprovalRow extends RunKey {
  readonly approvalId: string;
  readonly callId: string;
  readonly agent: string;
  readonly tool: string;
  readonly args: JsonValue;
  readonly argsHash: string;
  readonly code: string;
  readonly reason: string;
  readonly ruleId: string;
  /** Who asked for the run; with separation of duties the same person may not decide. */
  readonly requester: Principal;
  readonly status: ApprovalStatus;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly resolvedAt?: number;
  readonly resolvedBy?: Principal;
  readonly note?: string;
}

export interface BudgetRow {
  readonly tenant: string;
  readonly budget: string;
  readonly used: number;
  readonly reserved: number;
}

export type Lease =
  | { readonly status: "held"; readonly fence: number }
  | { readonly status: "busy"; readonly until: number };

/** What a worker says of a run that it leaves: nothing can be done before `until` unless somebody writes to the run. */
export interface Pause {
  /** Number of entries that the worker has seen. */
  readonly head: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Read side of the audit log that the store keeps in the same transaction as the journal. */
export interface AuditReader {
  size(): Promise<number>;
  /** Root of the first `size` records as the store keeps it, in hex. */
  root(): Promise<string>;
  entries(from: number, limit: number): Promise<readonly AuditEntry[]>;
  /** Size and roots of the tree in one string, read in one moment (`decodeFrontier` of `audit/`). */
  frontier(): Promise<string>;
  /** Every record from place `from` on, each beside the journal line that it was made from. */
  traced(from?: number): AsyncIterable<TracedRecord>;
  /** Every line of the journal as stored, run by run, each run oldest first. */
  lines(): AsyncIterable<JournalLine>;
  /** Every blob as stored, whether or not it is what its name says. */
  blobs(): AsyncIterable<StoredBlob>;
  /** What is derived from the journal and is not what the journal says; writes nothing. */
  differences(): Promise<readonly StoreDifference[]>;
  /** Keeps a signed checkpoint of the first `size` records; the same note twice is kept once. */
  saveCheckpoint(note: string, size: number): Promise<void>;
  /** Smallest first. */
  checkpoints(): Promise<readonly StoredCheckpoint[]>;
}

/** One journal row as stored: `text` is the canonical JSON of the event, byte for byte. */
export interface JournalLine {
  readonly run: RunKey;
  readonly seq: number;
  readonly at: number;
  readonly schema: number;
  readonly text: string;
}

/** An audit record, where it says it comes from, and what stands there now. */
export interface TracedRecord extends AuditEntry {
  readonly run: RunKey;
  readonly runSeq: number;
  /** Absent when the journal has lost the line. */
  readonly line?: JournalLine;
}

export interface StoredBlob {
  readonly sha256: string;
  readonly text: string;
}

/** A derived row that is not what the journal says. */
export interface StoreDifference {
  /** `audit_state` is what the tree of the audit log goes on from. */
  readonly table: "runs" | "approvals" | "budgets" | "reservations" | "audit_state";
  /** Tenant and ids of the row, joined by a slash; of `audit_state` the name of the column. */
  readonly row: string;
  /** What is stored; absent when the row is missing. */
  readonly stored?: unknown;
  /** What the journal says; absent when there should be no such row. */
  readonly derived?: unknown;
}

export interface StoredCheckpoint {
  readonly size: number;
  readonly note: string;
}

/** Where runs live. One `commit` is one transaction over journal, projections and audit log. */
export interface Store extends AsyncDisposable {
  readonly kind: string;
  commit(commit: Commit): Promise<CommitResult>;
  /** Entries of a run with `seq > after`, oldest first; empty for an unknown run. */
  read(run: RunKey, after?: number): Promise<readonly StoredEntry[]>;
  /** Throws `BELAY_STORE_CORRUPT` for a text that is not what its name says. */
  blob(sha256: string): Promise<string | undefined>;
  run(run: RunKey): Promise<RunRow | undefined>;
  /** Newest first. `before` is the `startedAt` of the last row of the page before. */
  runs(query: RunsQuery): Promise<readonly RunRow[]>;
  /**
   * Runs of every tenant that somebody must go on with: running, waiting, or ended with a queued message. With `now`,
   * those are left out that are paused for longer: a hundred thousand questions cost recovery no more than an index.
   */
  unfinished(limit: number, after?: RunKey, now?: number): Promise<readonly RunRow[]>;
  approval(tenant: string, approvalId: string): Promise<ApprovalRow | undefined>;
  /** Oldest first. */
  approvals(query: ApprovalsQuery): Promise<readonly ApprovalRow[]>;
  budget(tenant: string, budget: string): Promise<BudgetRow>;
  /** Runs of a conversation, oldest first. */
  conversation(tenant: string, conversationId: string): Promise<readonly RunRow[]>;
  /** Takes or prolongs the right to advance a run; each new holder gets a larger fence. `now` in milliseconds. */
  acquireLease(run: RunKey, owner: string, ttlMs: number, now: number): Promise<Lease>;
  /** The pause is kept when `owner` holds the lease and `head` is the run's; the next commit to the run ends it. */
  releaseLease(run: RunKey, owner: string, pause?: Pause): Promise<void>;
  readonly audit: AuditReader;
  /** Absent in a store that keeps everything. */
  readonly retention?: StoreRetention;
  /** Called after each commit of this process; for live views only, never for safety. */
  subscribe(listener: (run: RunKey, entries: readonly StoredEntry[]) => void): () => void;
  close(): Promise<void>;
}

/** How a store forgets what it need not keep any more; its audit log forgets nothing. */
export interface StoreRetention {
  /** Removes the events of one run and leaves `run.retired` in their place, in one transaction. */
  retire(request: RetireRequest): Promise<Retired>;
  /**
   * Removes the blobs that no event means. With `without`, nothing is removed: what is said is what there would be to
   * remove if these runs were retired.
   */
  dropBlobs(without?: readonly RunKey[]): Promise<{ readonly blobs: number; readonly bytes: number }>;
}

export interface RetireRequest {
  readonly run: RunKey;
  /** Kept is what was written to since, in milliseconds since the epoch. */
  readonly cutoff: number;
  readonly at: number;
  readonly by: Principal;
  /** Says what would be removed, and removes nothing. */
  readonly dryRun?: boolean;
}

export type Retired =
  | { readonly status: "retired"; readonly events: number; readonly bytes: number }
  | { readonly status: "kept"; readonly reason: string };

export interface RunsQuery {
  readonly tenant: string;
  readonly status?: RunStatus;
  readonly agent?: string;
  /** Only runs with a call whose outcome nobody knows yet. */
  readonly inDoubt?: true;
  /** Default and most: `PAGE_ROWS_MAX`. */
  readonly limit?: number;
  readonly before?: number;
  /** Run of that last row: tells rows of the same millisecond apart, so that a page loses none. */
  readonly beforeRunId?: string;
}

export interface ApprovalsQuery {
  readonly tenant: string;
  readonly status?: ApprovalStatus;
  readonly runId?: string;
  /** Default and most: `PAGE_ROWS_MAX`. */
  readonly limit?: number;
  /**
   * Last row of the page before, whatever has become of it since. Its id tells rows of the same millisecond apart;
   * with an id that the tenant does not have, the page begins at the next millisecond.
   */
  readonly after?: { readonly requestedAt: number; readonly approvalId: string };
}

/** Largest event in bytes of its JSON; larger values belong in a blob. Bounds what one read of a run can cost. */
export const EVENT_BYTES_MAX = 262_144;

/** Most rows that one query returns. */
export const PAGE_ROWS_MAX = 1000;

/** A commit may be this much older than the newest entry before the clock is not believed any more. */
export const CLOCK_TOLERANCE_MS = 60_000;

export type EventType = RunEvent["type"];

export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;
