import { effectsOf, fold, type RunEvent } from "../core/index.ts";
import { deriveRun } from "./derive-run.ts";
import { isUnfinished } from "./memory-queries.ts";
import type { JournalLine, RetireRequest, RunRow } from "./store.ts";
import { decodeEvent } from "./stored-entry.ts";

/** What a store knows of a run beside its journal. */
export interface RetirementView {
  readonly lines: readonly JournalLine[];
  /** All runs of the run's conversation. */
  readonly conversation: readonly RunRow[];
  readonly audit: { readonly size: number; readonly root: string };
}

export type RetirementPlan =
  | { readonly ok: true; readonly event: Extract<RunEvent, { type: "run.retired" }>; readonly bytes: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Whether a run may lose its events, and the event that stands for them then.
 *
 * Never a run that somebody may still have to do with: not over, an outcome that nobody knows, a reservation that is
 * open, a conversation that goes on or was used since the cutoff. Throws what `deriveRun` throws.
 */
export function planRetirement(
  { run: key, cutoff, by }: Pick<RetireRequest, "run" | "cutoff" | "by">,
  { lines, conversation, audit }: RetirementView,
): RetirementPlan {
  const derived = deriveRun(key, lines);
  if (derived === undefined) {
    return { ok: false, reason: "there is no such run" };
  }
  if (lines[0]?.seq !== 1) {
    return { ok: false, reason: "it is retired already" };
  }
  const { row, journalHash } = derived.run;
  const reason = reasonToKeep(row, lines, derived.reservations.size, conversation, cutoff);
  if (reason !== undefined || row.termination === undefined) {
    return { ok: false, reason: reason ?? "it has not ended" };
  }
  const { agent, conversationId, principal, startedAt, updatedAt: endedAt, termination } = row;
  const budgets = [...derived.budgets.values()].map(({ budget, used }) => ({ budget, used }));
  const kept = { agent, conversationId, principal, startedAt, endedAt, termination, journalHash, budgets, audit };
  return {
    ok: true,
    event: { type: "run.retired", by, ...kept },
    bytes: lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
}

function reasonToKeep(
  row: RunRow,
  lines: readonly JournalLine[],
  openReservations: number,
  conversation: readonly RunRow[],
  cutoff: number,
): string | undefined {
  if (isUnfinished(row)) {
    return "it is not over";
  }
  if (row.inDoubt !== undefined) {
    return "nobody knows the outcome of one of its calls; see belay reconcile";
  }
  if (openReservations > 0) {
    return "a reservation of a budget is open";
  }
  const state = fold(lines.map((line) => ({ at: line.at, event: decodeEvent(line) })));
  if (state === undefined || effectsOf(state).length > 0) {
    return "there is something left to do";
  }
  if (conversation.some(isUnfinished)) {
    return "its conversation goes on";
  }
  if ([row, ...conversation].some(({ updatedAt }) => updatedAt >= cutoff)) {
    return "it, or its conversation, is younger";
  }
  return undefined;
}

const HASH = /"([0-9a-f]{64})"/g;

/** Every blob that an event could mean: more than it does mean, and never less. */
export function blobHashesIn(text: string): readonly string[] {
  return text.includes('"sha256"') ? Array.from(text.matchAll(HASH), ([, hash]) => hash ?? "") : [];
}
