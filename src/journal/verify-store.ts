import { type AuditEntry, type AuditEvidence, type AuditVerdict, canonicalJson, verifyLog } from "../audit/index.ts";
import type { Principal } from "../core/index.ts";
import { auditRecordOf, isAudited } from "./audit-record.ts";
import type { JournalLine, RunKey, Store, TracedRecord } from "./store.ts";
import { decodeEvent } from "./stored-entry.ts";

/** The audit log is whole in itself, and the journal is not what it vouches for. */
export interface JournalFailure {
  readonly ok: false;
  /**
   * `journal_differs`: the event is not the one that the record was made from. `journal_missing`: a record whose event
   * is gone. `record_missing`: an event that should have a record and has none.
   */
  readonly problem: "journal_differs" | "journal_missing" | "record_missing";
  /** Place of the record in the tree; null when it is the record that is missing. */
  readonly seq: number | null;
  readonly run: RunKey;
  /** Number of the event within its run. */
  readonly runSeq: number;
  readonly detail: string;
}

export type StoreAuditVerdict = AuditVerdict | JournalFailure;

export interface VerifyStoreOptions extends Omit<AuditEvidence, "frontier" | "expectedSize"> {
  readonly signal?: AbortSignal;
}

/** What is known of a run while both sides are read. */
interface RunTally {
  readonly run: RunKey;
  /** Last line that was there before the log was read; later ones are not compared. */
  lastSeq: number;
  audited: number;
  recorded: number;
  lastRecorded: number;
  principal: Principal | undefined;
}

/**
 * Verifies the audit log of a store, and that the journal still is what the log says.
 *
 * Reads the whole store once, in a stream, beside which others may go on writing. A fault of the log comes before a
 * fault of the journal. Never throws for bad data; throws the signal's reason when it aborts.
 */
export async function verifyStoreAudit(store: Store, options: VerifyStoreOptions = {}): Promise<StoreAuditVerdict> {
  // The journal first: whatever it holds now has its record by the time the size of the log is read.
  const tallies = await countLines(store, options.signal);
  const frontier = await store.audit.frontier();
  const size = sizeOf(frontier);
  const failures: JournalFailure[] = [];
  const verdict = await verifyLog(compared(store, size, tallies, failures), { ...options, frontier });
  if (!verdict.ok) {
    return verdict;
  }
  return failures[0] ?? (await findUnrecorded(store, tallies)) ?? verdict;
}

function sizeOf(frontier: string): number {
  const size = Number.parseInt(frontier.slice(0, 16), 16);
  // An unreadable state is a verdict of verifyLog; reading everything lets it say so.
  return Number.isSafeInteger(size) ? size : Number.POSITIVE_INFINITY;
}

async function countLines(store: Store, signal: AbortSignal | undefined): Promise<Map<string, RunTally>> {
  const tallies = new Map<string, RunTally>();
  for await (const line of store.audit.lines()) {
    signal?.throwIfAborted();
    const tally = tallyOf(tallies, line.run);
    tally.lastSeq = line.seq;
    tally.audited += needsRecord(line) ? 1 : 0;
  }
  return tallies;
}

/** Passes the records on to the log's own verification, and compares each with the journal on the way. */
async function* compared(
  store: Store,
  size: number,
  tallies: Map<string, RunTally>,
  failures: JournalFailure[],
): AsyncGenerator<AuditEntry> {
  for await (const record of store.audit.traced()) {
    if (record.seq >= size) {
      return;
    }
    const tally = tallyOf(tallies, record.run);
    if (failures.length === 0) {
      failures.push(...compare(record, tally));
    }
    yield { seq: record.seq, text: record.text, leaf: record.leaf };
  }
}

function compare(record: TracedRecord, tally: RunTally): readonly JournalFailure[] {
  const { line, run, runSeq, seq } = record;
  if (line === undefined) {
    const detail = `event ${runSeq} of run ${run.runId} is in the audit log and not in the journal`;
    return [{ ok: false, problem: "journal_missing", seq, run, runSeq, detail }];
  }
  // In order and none twice, so that equal counts mean a record for each event.
  if (runSeq <= tally.lastRecorded || expectedText(line, tally) !== record.text) {
    const detail = `event ${runSeq} of run ${run.runId} is not the one that audit record ${seq} was made from`;
    return [{ ok: false, problem: "journal_differs", seq, run, runSeq, detail }];
  }
  tally.lastRecorded = runSeq;
  tally.recorded += runSeq <= tally.lastSeq ? 1 : 0;
  return [];
}

/** The record that the stored line should have; undefined when it should have none or cannot be read. */
function expectedText({ run, seq, at, ...line }: JournalLine, tally: RunTally): string | undefined {
  try {
    const event = decodeEvent({ run, seq, at, ...line });
    if (event.type === "run.started") {
      tally.principal = event.principal;
    }
    const principal = tally.principal;
    const record = principal && auditRecordOf({ run, seq, entry: { at, event }, text: line.text, principal });
    return record && canonicalJson(record);
  } catch {
    return undefined;
  }
}

/** The first event of the first run that has fewer records than it should. */
async function findUnrecorded(store: Store, tallies: Map<string, RunTally>): Promise<JournalFailure | undefined> {
  const short = [...tallies.values()].find((tally) => tally.recorded < tally.audited);
  if (short === undefined) {
    return undefined;
  }
  const recorded = new Set<number>();
  for await (const record of store.audit.traced()) {
    if (isSameRun(record.run, short.run)) {
      recorded.add(record.runSeq);
    }
  }
  let runSeq = short.lastSeq;
  for await (const line of store.audit.lines()) {
    if (isSameRun(line.run, short.run) && line.seq < runSeq && needsRecord(line) && !recorded.has(line.seq)) {
      runSeq = line.seq;
    }
  }
  const detail = `event ${runSeq} of run ${short.run.runId} has no record in the audit log`;
  return { ok: false, problem: "record_missing", seq: null, run: short.run, runSeq, detail };
}

function needsRecord(line: JournalLine): boolean {
  try {
    return isAudited(decodeEvent(line));
  } catch {
    // Unreadable: its record, if it has one, will differ.
    return false;
  }
}

function tallyOf(tallies: Map<string, RunTally>, run: RunKey): RunTally {
  const key = JSON.stringify([run.tenant, run.runId]);
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = { run, lastSeq: 0, audited: 0, recorded: 0, lastRecorded: 0, principal: undefined };
    tallies.set(key, tally);
  }
  return tally;
}

function isSameRun(one: RunKey, other: RunKey): boolean {
  return one.tenant === other.tenant && one.runId === other.runId;
}
