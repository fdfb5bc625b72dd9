import { hash } from "node:crypto";
import { type AuditEntry, type AuditEvidence, canonicalJson, verifyLog } from "../audit/index.ts";
import type { CallOutcome, Principal, RunEvent } from "../core/index.ts";
import { auditRecordOf } from "./audit-record.ts";
import { findBrokenLink, journalHashOf } from "./broken-link.ts";
import { JOURNAL_GENESIS } from "./journal-chain.ts";
import {
  extendDigest,
  isSameRun,
  needsRecord,
  type RunTallies,
  type RunTally,
  readableEvent,
  tallyLine,
  tallyOf,
} from "./run-tally.ts";
import type { JournalLine, RunKey, Store, TracedRecord } from "./store.ts";
import type { JournalFailure, StoreAuditVerdict } from "./store-verdict.ts";
import { type BlobReferences, verifyBlobs, verifyProjections } from "./verify-derived.ts";

export interface VerifyStoreOptions extends Omit<AuditEvidence, "frontier" | "expectedSize"> {
  readonly signal?: AbortSignal;
}

/** What the records of a run have said so far. */
interface RecordTally {
  recorded: number;
  lastRecorded: number;
  digest: string;
  hasEnded: boolean;
  principal: Principal | undefined;
}

interface Comparison {
  readonly tallies: RunTallies;
  readonly records: Map<RunTally, RecordTally>;
  readonly failures: JournalFailure[];
}

/**
 * Verifies the audit log of a store, that the journal still is what the log says, and that blobs and derived rows are
 * what the journal says.
 *
 * Reads the whole store once, in a stream, beside which others may go on writing. A fault of the log comes before a
 * fault of the journal, and that before a fault of what is derived from it. What no record vouches for yet are the
 * events of an unfinished run after its last record. Never throws for bad data; throws the signal's reason when it
 * aborts.
 */
export async function verifyStoreAudit(store: Store, options: VerifyStoreOptions = {}): Promise<StoreAuditVerdict> {
  for (let attempt = 1; ; attempt += 1) {
    const verdict = await verifyOnce(store, options);
    // A run that was retired between the journal and the log is missing in neither; once more, and it is seen so.
    const isMissing = !verdict.ok && verdict.problem === "journal_missing" && attempt < ATTEMPTS;
    if (!isMissing || !(await isRetired(store, verdict.run))) {
      return verdict;
    }
  }
}

const ATTEMPTS = 3;

async function isRetired(store: Store, run: RunKey): Promise<boolean> {
  try {
    const [first] = await store.read(run);
    return first?.event.type === "run.retired";
  } catch {
    return false;
  }
}

async function verifyOnce(store: Store, options: VerifyStoreOptions): Promise<StoreAuditVerdict> {
  const { signal } = options;
  // The journal first: whatever it holds now has its record by the time the size of the log is read.
  const { tallies, blobs } = await readJournal(store, signal);
  const frontier = await store.audit.frontier();
  const comparison: Comparison = { tallies, records: new Map(), failures: [] };
  const verdict = await verifyLog(compared(store, sizeOf(frontier), comparison), { ...options, frontier });
  if (!verdict.ok) {
    return verdict;
  }
  return (
    comparison.failures[0] ??
    (await findUnrecorded(store, comparison)) ??
    findGap(tallies) ??
    (await findBrokenRun(store, comparison, signal)) ??
    (await verifyBlobs(store, blobs, signal)) ??
    (await verifyProjections(store)) ??
    verdict
  );
}

function sizeOf(frontier: string): number {
  const size = Number.parseInt(frontier.slice(0, 16), 16);
  // An unreadable state is a verdict of verifyLog; reading everything lets it say so.
  return Number.isSafeInteger(size) ? size : Number.POSITIVE_INFINITY;
}

async function readJournal(
  store: Store,
  signal: AbortSignal | undefined,
): Promise<{ readonly tallies: RunTallies; readonly blobs: BlobReferences }> {
  const tallies: RunTallies = new Map();
  const blobs: BlobReferences = new Map();
  for await (const line of store.audit.lines()) {
    signal?.throwIfAborted();
    const event = readableEvent(line);
    tallyLine(tallyOf(tallies, line.run), line, event);
    const sha256 = event && blobOf(event);
    if (sha256 !== undefined && !blobs.has(sha256)) {
      blobs.set(sha256, { run: line.run, seq: line.seq });
    }
  }
  return { tallies, blobs };
}

function blobOf(event: RunEvent): string | undefined {
  if (event.type === "call.reconciled") {
    const reconciled: unknown = event.value?.blob?.sha256;
    return typeof reconciled === "string" ? reconciled : undefined;
  }
  if (event.type !== "call.settled" && event.type !== "call.outcome_observed") {
    return undefined;
  }
  // Any part of an edited event may be missing or of another kind.
  const outcome: Partial<Extract<CallOutcome, { readonly status: "ok" }>> | undefined =
    event.outcome?.status === "ok" ? event.outcome : undefined;
  const sha256: unknown = outcome?.value?.blob?.sha256;
  return typeof sha256 === "string" ? sha256 : undefined;
}

/** Passes the records on to the log's own verification, and compares each with the journal on the way. */
async function* compared(store: Store, size: number, comparison: Comparison): AsyncGenerator<AuditEntry> {
  for await (const record of store.audit.traced()) {
    if (record.seq >= size) {
      return;
    }
    if (comparison.failures.length === 0) {
      comparison.failures.push(...compare(record, comparison));
    }
    yield { seq: record.seq, text: record.text, leaf: record.leaf };
  }
}

function compare(record: TracedRecord, { tallies, records }: Comparison): readonly JournalFailure[] {
  const { line, run, runSeq, seq } = record;
  const tally = tallyOf(tallies, run);
  const told = recordTallyOf(records, tally);
  if (line === undefined && runSeq <= tally.removed) {
    return compareRemoved(record, tally, told);
  }
  if (line === undefined) {
    const detail = `event ${runSeq} of run ${run.runId} is in the audit log and not in the journal`;
    return [{ ok: false, problem: "journal_missing", seq, run, runSeq, detail }];
  }
  const journalHash = journalHashOf(record.text);
  // In order and none twice, so that equal counts mean a record for each event.
  if (runSeq <= told.lastRecorded || expectedText(line, told, journalHash) !== record.text) {
    const detail = `event ${runSeq} of run ${run.runId} is not the one that audit record ${seq} was made from`;
    return [{ ok: false, problem: "journal_differs", seq, run, runSeq, detail }];
  }
  told.lastRecorded = runSeq;
  if (runSeq <= tally.lastSeq) {
    told.recorded += 1;
    told.digest = extendDigest(told.digest, journalHash ?? "");
  }
  return [];
}

/** Of a retired run the records are left; the last of them must be what `run.retired` says that it follows. */
function compareRemoved(record: TracedRecord, tally: RunTally, told: RecordTally): readonly JournalFailure[] {
  const { run, runSeq, seq } = record;
  const isFirst = told.lastRecorded === 0;
  const isLinked = runSeq < tally.removed || journalHashOf(record.text) === tally.retiredHash;
  if (runSeq <= told.lastRecorded || (isFirst && runSeq !== 1) || !isLinked) {
    const detail = `the events of run ${run.runId} that were removed are not those that audit record ${seq} is about`;
    return [{ ok: false, problem: "journal_differs", seq, run, runSeq, detail }];
  }
  told.lastRecorded = runSeq;
  told.hasEnded = true;
  return [];
}

/** The record that the stored line should have; undefined when it should have none or cannot be read. */
function expectedText(line: JournalLine, told: RecordTally, journalHash: string | undefined): string | undefined {
  const event = readableEvent(line);
  if (event === undefined || journalHash === undefined) {
    return undefined;
  }
  const { run, seq, at, text } = line;
  try {
    if (event.type === "run.started" || event.type === "run.retired") {
      told.principal = event.principal;
    }
    const { principal, hasEnded: isAfterEnd } = told;
    told.hasEnded ||= event.type === "run.ended";
    const source = { run, seq, entry: { at, event }, eventHash: hash("sha256", text), journalHash, isAfterEnd };
    const record = principal && auditRecordOf({ ...source, principal });
    return record && canonicalJson(record);
  } catch {
    return undefined;
  }
}

/** The first event of the first run that has fewer records than it should. */
async function findUnrecorded(store: Store, { tallies, records }: Comparison): Promise<JournalFailure | undefined> {
  const short = [...tallies.values()].find((tally) => recordTallyOf(records, tally).recorded < tally.audited);
  if (short === undefined) {
    return undefined;
  }
  const recorded = new Set<number>();
  for await (const record of store.audit.traced()) {
    if (isSameRun(record.run, short.run)) {
      recorded.add(record.runSeq);
    }
  }
  let hasEnded = false;
  let runSeq = short.lastSeq;
  for await (const line of store.audit.lines()) {
    const event = isSameRun(line.run, short.run) ? readableEvent(line) : undefined;
    if (event !== undefined && line.seq < runSeq && needsRecord(event, hasEnded) && !recorded.has(line.seq)) {
      runSeq = line.seq;
    }
    hasEnded ||= event?.type === "run.ended";
  }
  const detail = `event ${runSeq} of run ${short.run.runId} has no record in the audit log`;
  return { ok: false, problem: "record_missing", seq: null, run: short.run, runSeq, detail };
}

function findGap(tallies: RunTallies): JournalFailure | undefined {
  for (const { run, gapAt: runSeq } of tallies.values()) {
    if (runSeq !== undefined) {
      const what = runSeq === 1 ? "does not begin with run.started" : `has no event ${runSeq}, and later ones`;
      const detail = `the journal of run ${run.runId} ${what}`;
      return { ok: false, problem: "journal_missing", seq: null, run, runSeq, detail };
    }
  }
  return undefined;
}

/** Every audited event has its record; here the events between them are held against what the records say of them. */
async function findBrokenRun(
  store: Store,
  { tallies, records }: Comparison,
  signal: AbortSignal | undefined,
): Promise<JournalFailure | undefined> {
  const broken = [...tallies.values()].find((tally) => recordTallyOf(records, tally).digest !== tally.digest);
  return broken && findBrokenLink(store, broken, signal);
}

function recordTallyOf(records: Map<RunTally, RecordTally>, tally: RunTally): RecordTally {
  let told = records.get(tally);
  if (told === undefined) {
    told = { recorded: 0, lastRecorded: 0, digest: JOURNAL_GENESIS, hasEnded: false, principal: undefined };
    records.set(tally, told);
  }
  return told;
}
