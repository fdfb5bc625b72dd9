import { hash } from "node:crypto";
import type { RunEvent } from "../core/index.ts";
import { isAudited } from "./audit-record.ts";
import { JOURNAL_GENESIS, journalLink } from "./journal-chain.ts";
import type { JournalLine, RunKey } from "./store.ts";
import { decodeEvent } from "./stored-entry.ts";

/** What is known of a run when its journal has been read: enough to hold its records against it, in constant space. */
export interface RunTally {
  readonly run: RunKey;
  /** Last line that was there before the log was read; later ones are not compared. */
  lastSeq: number;
  /** So many events were removed when the run was retired; `run.retired`, which follows them, vouches for them. */
  removed: number;
  /** What `run.retired` says that the hash of the removed events is. */
  retiredHash: string | undefined;
  /** The first event that is not where it should be. */
  gapAt: number | undefined;
  /** Of the last line read. */
  journalHash: string;
  hasEnded: boolean;
  audited: number;
  /** Over the `journalHash` at each audited event: equal to the same over the records, when they agree everywhere. */
  digest: string;
}

export type RunTallies = Map<string, RunTally>;

export function tallyOf(tallies: RunTallies, run: RunKey): RunTally {
  const key = JSON.stringify([run.tenant, run.runId]);
  let tally = tallies.get(key);
  if (tally === undefined) {
    const digest = JOURNAL_GENESIS;
    const start = {
      lastSeq: 0,
      removed: 0,
      retiredHash: undefined,
      gapAt: undefined,
      journalHash: JOURNAL_GENESIS,
      hasEnded: false,
      audited: 0,
      digest,
    };
    tally = { run, ...start };
    tallies.set(key, tally);
  }
  return tally;
}

/** Takes the next line of its run. */
export function tallyLine(tally: RunTally, line: JournalLine, event: RunEvent | undefined): void {
  if (tally.lastSeq === 0 && event?.type === "run.retired") {
    beginRetired(tally, line, event);
  }
  if (line.seq !== tally.lastSeq + 1 || (line.seq === 1 && event?.type !== "run.started")) {
    tally.gapAt ??= tally.lastSeq + 1;
  }
  tally.lastSeq = line.seq;
  tally.journalHash = lineLink(tally.journalHash, line);
  if (event !== undefined && needsRecord(event, tally.hasEnded)) {
    tally.audited += 1;
    tally.digest = extendDigest(tally.digest, tally.journalHash);
  }
  tally.hasEnded ||= event?.type === "run.ended";
}

/** Until its record is found to be of these very bytes, nothing that it says is believed. */
function beginRetired(tally: RunTally, { seq }: JournalLine, event: Extract<RunEvent, { type: "run.retired" }>): void {
  tally.removed = seq - 1;
  tally.lastSeq = seq - 1;
  tally.journalHash = typeof event.journalHash === "string" ? event.journalHash : JOURNAL_GENESIS;
  tally.retiredHash = tally.journalHash;
  tally.hasEnded = true;
}

export function needsRecord(event: RunEvent, isAfterEnd: boolean): boolean {
  try {
    return isAudited(event, isAfterEnd);
  } catch {
    // An edited event with parts missing: its record, if it has one, will differ.
    return false;
  }
}

export function extendDigest(digest: string, journalHash: string): string {
  return hash("sha256", digest + journalHash);
}

export function lineLink(previous: string, { seq, at, schema, text }: JournalLine): string {
  return journalLink(previous, { seq, at, schema, textHash: hash("sha256", text) });
}

/** The event of a line, or undefined when it cannot be read. */
export function readableEvent(line: JournalLine): RunEvent | undefined {
  try {
    const event: unknown = decodeEvent(line);
    return typeof event === "object" && event !== null ? (event as RunEvent) : undefined;
  } catch {
    return undefined;
  }
}

export function isSameRun(one: RunKey, other: RunKey): boolean {
  return one.tenant === other.tenant && one.runId === other.runId;
}
