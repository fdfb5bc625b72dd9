import type { HashHex } from "./merkle-hash.ts";

/** What a verification found: an intact log, or the first thing that is wrong with it. */
export type AuditVerdict = AuditIntact | AuditFailure;

export interface AuditIntact {
  readonly ok: true;
  readonly size: number;
  readonly root: HashHex;
  /** How many records a checkpoint vouches for. Later ones are whole in themselves, but nobody else has seen them. */
  readonly anchoredSize: number;
}

export type AuditFailure = RecordFailure | RangeFailure | EvidenceFailure;

/**
 * One record is at fault; `seq` is its place.
 *
 * - `changed`: its text does not hash to its stored leaf.
 * - `not_canonical`: the hash fits, the text is not the canonical JSON of an object.
 * - `missing`: another record stands in its place (deleted, inserted, duplicated or swapped).
 * - `truncated`: the log ends before it, and a checkpoint, the stored state or the expected size says that it existed.
 * - `extra`: the log goes on with it beyond the stored state or the expected size.
 * - `unreadable`: it, or what should be it, cannot be read.
 */
export interface RecordFailure {
  readonly ok: false;
  readonly problem: "changed" | "not_canonical" | "missing" | "truncated" | "extra" | "unreadable";
  readonly seq: number;
  readonly detail: string;
}

/**
 * Each record fits its own leaf, and together they are not what was vouched for: text and leaf were rewritten.
 *
 * Which record it was cannot be proved; it is one of `seq` to `lastSeq`, between the last size that matched and the
 * first that did not. Denser checkpoints make the range smaller.
 */
export interface RangeFailure {
  readonly ok: false;
  readonly problem: "root_mismatch";
  readonly seq: number;
  readonly lastSeq: number;
  readonly detail: string;
}

/** No record is at fault; a checkpoint or the stored state, which should vouch for them, cannot be used. */
export interface EvidenceFailure {
  readonly ok: false;
  readonly problem: "bad_signature" | "unreadable";
  readonly seq: null;
  readonly detail: string;
}
