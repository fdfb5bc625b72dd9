import type { AuditVerdict } from "../audit/index.ts";
import type { RunKey, StoreDifference } from "./store.ts";

/** The audit log is whole in itself, and the journal is not what it vouches for. */
export interface JournalFailure {
  readonly ok: false;
  /**
   * `journal_differs`: an event is not the one that was recorded. `journal_missing`: an event is gone.
   * `record_missing`: an event that should have a record has none.
   */
  readonly problem: "journal_differs" | "journal_missing" | "record_missing";
  /** Place of the record that shows it; null when no record does. */
  readonly seq: number | null;
  readonly run: RunKey;
  /** Number of the event within its run; with `lastRunSeq`, the first that it can be. */
  readonly runSeq: number;
  /** Absent when it is known which event it is. */
  readonly lastRunSeq?: number;
  readonly detail: string;
}

/** Log and journal are whole, and something beside them is not what they say. */
export interface DerivedFailure {
  readonly ok: false;
  /**
   * `projection_differs`: a row that is derived from the journal was edited, added or removed; it can be derived again.
   * `blob_differs`, `blob_missing`: a large value is not what its hash says, or is gone; only a backup has it.
   */
  readonly problem: "projection_differs" | "blob_differs" | "blob_missing";
  readonly seq: null;
  readonly table: StoreDifference["table"] | "blobs";
  /** Names the row, as in `StoreDifference`; of a blob its hash. */
  readonly row: string;
  readonly detail: string;
}

export type StoreAuditVerdict = AuditVerdict | JournalFailure | DerivedFailure;
