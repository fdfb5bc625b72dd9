import { type Anchor, type AuditEvidence, type CollectedEvidence, collectEvidence } from "./anchor.ts";
import { type AuditEntry, checkEntry } from "./entry.ts";
import { appendLeaf, EMPTY_FRONTIER, type Frontier, rootOf } from "./frontier.ts";
import type { AuditFailure, AuditVerdict, RangeFailure, RecordFailure } from "./verdict.ts";

export interface VerifyLogOptions extends AuditEvidence {
  readonly signal?: AbortSignal;
}

/** How far the records have been held against the evidence. */
interface Progress {
  frontier: Frontier;
  /** Index of the next anchor to reach. */
  next: number;
  /** The largest size at which every anchor fitted. */
  matchedSize: number;
  anchoredSize: number;
}

/**
 * Reads a whole log in order of `seq`, and names the first record that is not what was once written.
 *
 * Without evidence it finds edits, deletions in the middle, duplicates, insertions and swaps, but not a removed tail
 * or a rewriting of texts with their leaves: for those give the stored frontier, and best a checkpoint that was kept
 * elsewhere. Needs memory for one record. Bad data is a verdict, never an exception; a source that fails is
 * `unreadable`. Throws `BELAY_AUDIT_INVALID` for a bad verifier key, and the signal's reason when it aborts.
 */
export async function verifyLog(
  entries: AsyncIterable<AuditEntry> | Iterable<AuditEntry>,
  options: VerifyLogOptions = {},
): Promise<AuditVerdict> {
  const evidence = collectEvidence(options);
  const progress: Progress = { frontier: EMPTY_FRONTIER, next: 0, matchedSize: 0, anchoredSize: 0 };
  for await (const read of readEach(entries)) {
    options.signal?.throwIfAborted();
    const failure = read.ok ? takeEntry(read.entry, progress, evidence) : sourceFailed(progress, read.error);
    if (failure !== undefined) {
      return failure;
    }
  }
  return conclude(progress, evidence);
}

type Read = { readonly ok: true; readonly entry: unknown } | { readonly ok: false; readonly error: unknown };

/** Keeps failures of the source apart from our own: only reading happens inside the try. */
async function* readEach(entries: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<Read> {
  try {
    for await (const entry of entries) {
      yield { ok: true, entry };
    }
  } catch (error) {
    yield { ok: false, error };
  }
}

function takeEntry(entry: unknown, progress: Progress, evidence: CollectedEvidence): AuditFailure | undefined {
  const seq = progress.frontier.size;
  const failure = checkEntry(entry, seq);
  if (failure !== undefined) {
    return failure;
  }
  if (seq >= evidence.sizeMax) {
    return recordFailure("extra", seq, `the log should end after ${evidence.sizeMax} records and goes on`);
  }
  progress.frontier = appendLeaf(progress.frontier, (entry as AuditEntry).leaf);
  return compareAnchors(progress, evidence.anchors);
}

/** Compares all anchors of the size just reached before any of them counts as matched: two may contradict. */
function compareAnchors(progress: Progress, anchors: readonly Anchor[]): RangeFailure | undefined {
  const { size } = progress.frontier;
  let anchor = anchors[progress.next];
  if (anchor?.size !== size) {
    return undefined;
  }
  const root = rootOf(progress.frontier);
  let anchoredSize = progress.anchoredSize;
  while (anchor?.size === size) {
    if (anchor.root !== root) {
      return rangeFailure(progress.matchedSize, anchor);
    }
    if (anchor.source === "checkpoint") {
      anchoredSize = size;
    }
    progress.next += 1;
    anchor = anchors[progress.next];
  }
  progress.matchedSize = size;
  progress.anchoredSize = anchoredSize;
  return undefined;
}

function conclude(progress: Progress, evidence: CollectedEvidence): AuditVerdict {
  const { size } = progress.frontier;
  if (size < evidence.sizeMin) {
    const unproved = progress.matchedSize < size ? `; nothing vouches for records ${progress.matchedSize} on` : "";
    const detail = `the log ends after ${size} records, and there were ${evidence.sizeMin}${unproved}`;
    return recordFailure("truncated", size, detail);
  }
  // Last, because a fault of a record says more than a fault of the evidence.
  if (evidence.failure !== undefined) {
    return evidence.failure;
  }
  return { ok: true, size, root: rootOf(progress.frontier), anchoredSize: progress.anchoredSize };
}

function rangeFailure(matchedSize: number, anchor: Anchor): RangeFailure {
  const lastSeq = anchor.size - 1;
  const detail =
    `records ${matchedSize} to ${lastSeq} are not those that the ${anchor.source} of size ${anchor.size} vouches for: ` +
    "one of them was rewritten together with its leaf";
  return { ok: false, problem: "root_mismatch", seq: matchedSize, lastSeq, detail };
}

function sourceFailed(progress: Progress, error: unknown): RecordFailure {
  const { size } = progress.frontier;
  // Only the kind of the error: its text may hold a secret, and a verdict is shown on pages.
  const kind = error instanceof Error ? error.name : typeof error;
  return recordFailure("unreadable", size, `reading record ${size} failed (${kind})`);
}

function recordFailure(problem: RecordFailure["problem"], seq: number, detail: string): RecordFailure {
  return { ok: false, problem, seq, detail };
}
