import { JOURNAL_GENESIS } from "./journal-chain.ts";
import { isSameRun, lineLink, type RunTally } from "./run-tally.ts";
import type { Store } from "./store.ts";
import type { JournalFailure } from "./store-verdict.ts";

/** What a record says about the journal up to its event, or undefined when it says nothing. */
export function journalHashOf(recordText: string): string | undefined {
  try {
    const { journalHash } = JSON.parse(recordText) as { readonly journalHash?: unknown };
    return typeof journalHash === "string" ? journalHash : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Finds the first record of a run whose `journalHash` is not what the journal gives.
 *
 * The records before it fit, so what was changed lies after the last of those and not after its own event.
 */
export async function findBrokenLink(
  store: Store,
  { run, lastSeq, removed, retiredHash }: RunTally,
  signal: AbortSignal | undefined,
): Promise<JournalFailure> {
  const claims = new Map<number, { readonly seq: number; readonly journalHash: string | undefined }>();
  for await (const record of store.audit.traced()) {
    signal?.throwIfAborted();
    if (isSameRun(record.run, run)) {
      claims.set(record.runSeq, { seq: record.seq, journalHash: journalHashOf(record.text) });
    }
  }
  let journalHash = retiredHash ?? JOURNAL_GENESIS;
  let runSeq = removed + 1;
  for await (const line of store.audit.lines()) {
    signal?.throwIfAborted();
    if (!isSameRun(line.run, run) || line.seq > lastSeq) {
      continue;
    }
    journalHash = lineLink(journalHash, line);
    const claim = claims.get(line.seq);
    if (claim === undefined) {
      continue;
    }
    if (claim.journalHash !== journalHash) {
      return { ok: false, problem: "journal_differs", ...placeOf(run.runId, runSeq, line.seq), run, seq: claim.seq };
    }
    runSeq = line.seq + 1;
  }
  // Only when the store was changed while it was read.
  return { ok: false, problem: "journal_differs", ...placeOf(run.runId, runSeq, lastSeq), run, seq: null };
}

function placeOf(runId: string, runSeq: number, lastRunSeq: number) {
  const which = runSeq === lastRunSeq ? `event ${runSeq}` : `one of events ${runSeq} to ${lastRunSeq}`;
  const detail = `${which} of run ${runId} is not what it was when the audit record of event ${lastRunSeq} was written`;
  return runSeq === lastRunSeq ? { runSeq, detail } : { runSeq, lastRunSeq, detail };
}
