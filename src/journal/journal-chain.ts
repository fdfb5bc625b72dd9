import { hash } from "node:crypto";
import { CHAIN_GENESIS } from "../audit/index.ts";

/** What the first event of every run follows: 64 zeros. */
export const JOURNAL_GENESIS: string = CHAIN_GENESIS;

/** The stored parts of an event that its link covers: everything but the run, which the audit record names. */
export interface LinkedEvent {
  readonly seq: number;
  readonly at: number;
  readonly schema: number;
  /** SHA-256 in hex of the event as stored. */
  readonly textHash: string;
}

/**
 * The hash of a run's journal up to and including this event.
 *
 * SHA-256(previous + canonical JSON of `{at, event, schema, seq}`), in hex, where `event` is the hash of the stored
 * text. Each audit record holds it, so a record vouches for every event before it, and not only for its own.
 */
export function journalLink(previous: string, { seq, at, schema, textHash }: LinkedEvent): string {
  // Written out: keys in order and integers only, so this is what canonicalJson() would give, at a tenth of the time.
  return hash("sha256", `${previous}{"at":${at},"event":"${textHash}","schema":${schema},"seq":${seq}}`);
}
