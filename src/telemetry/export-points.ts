import { apply, type Entry, type RunState } from "../core/index.ts";
import type { RunKey, StoredEntry } from "../journal/index.ts";
import type { SpanRecord } from "./span.ts";

/**
 * Places in the journal at which a run comes to rest: it waits for people, or it has ended.
 *
 * They depend on the journal alone. What was closed between two of them is exported by the process that wrote the
 * later one, so several processes that take turns at a run export each span once.
 */
export function restingPoints(entries: readonly Entry[]): readonly number[] {
  const points: number[] = [];
  let state: RunState | undefined;
  for (const [index, entry] of entries.entries()) {
    const before = state;
    state = apply(before, entry);
    if (state !== before && state !== undefined && isResting(state)) {
      points.push(index + 1);
    }
  }
  return points;
}

function isResting(state: RunState): boolean {
  return state.termination !== undefined || (state.ending === undefined && state.phase === "AWAIT_APPROVAL");
}

/** Spans that were closed up to a resting point from `from` to `to` and after the point before it. */
export function spansToExport(
  spans: readonly SpanRecord[],
  points: readonly number[],
  from: number,
  to: number,
): readonly SpanRecord[] {
  return spans.filter(({ closedSeq }) => {
    const point = closedSeq === undefined ? undefined : points.find((candidate) => candidate >= closedSeq);
    return point !== undefined && point >= from && point <= to;
  });
}

/** Tells commits that may have brought a run to rest; what it costs to be sure is a read of the run. */
export interface RestWatch {
  mayRest(run: RunKey, entries: readonly StoredEntry[]): boolean;
}

const RUNS_WATCHED_MAX = 10_000;

export function createRestWatch(): RestWatch {
  // Runs that were seen from their start and have asked nobody: they rest when they end and not before.
  const straight = new Set<string>();
  return {
    mayRest(run, entries) {
      const key = JSON.stringify([run.tenant, run.runId]);
      for (const { seq, event } of entries) {
        if (event.type === "run.started") {
          straight.add(key);
        } else if (ENDS_STRAIGHT.has(event.type) || (event.type === "segment.started" && seq > 2)) {
          straight.delete(key);
        }
      }
      if (straight.size > RUNS_WATCHED_MAX) {
        // Forgetting costs reads of the store, and no span.
        straight.clear();
      }
      const last = entries.at(-1)?.event.type;
      const isCall = last === "call.settled" || last === "call.decided";
      return (isCall && !straight.has(key)) || entries.some(({ event }) => RESTING_EVENTS.has(event.type));
    },
  };
}

const ENDS_STRAIGHT: ReadonlySet<string> = new Set(["approval.requested", "run.ended"]);

const RESTING_EVENTS: ReadonlySet<string> = new Set([
  "approval.requested",
  "approval.resolved",
  "approval.expired",
  "run.ended",
  "call.outcome_observed",
]);
