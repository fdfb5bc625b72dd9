import { type CallOutcome, type CallState, type Entry, fold, type JsonValue, type RunState } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, Store } from "../journal/index.ts";

/** A changing call that happened, or of which nobody knows whether it did. */
export interface RunEffect {
  readonly call: CallState;
  /** What it gave; absent when nobody knows whether it happened. */
  readonly result?: JsonValue;
}

/**
 * What a run changed, the last change first, in the order in which the calls were started.
 *
 * Throws `BELAY_RUN_UNKNOWN`, and `BELAY_ROLLBACK_UNFINISHED` for a run that may still change something.
 */
export async function effectsOfRun(
  store: Store,
  run: RunKey,
): Promise<{ readonly state: RunState; readonly effects: readonly RunEffect[] }> {
  const entries = await store.read(run);
  const state = fold(entries);
  if (state === undefined) {
    throw new BelayError("BELAY_RUN_UNKNOWN", `there is no run ${run.runId} in tenant ${run.tenant}; see 'belay runs'`);
  }
  if (state.termination === undefined) {
    throw new BelayError(
      "BELAY_ROLLBACK_UNFINISHED",
      `The run ${run.runId} has not ended and may still change something. Answer its questions, or run belay recover.`,
    );
  }
  const starts = startsOf(entries);
  const late = lateSuccesses(entries);
  const placeOf = ({ call }: CallState): number => starts.get(call.callId) ?? -1;
  const changed = [...state.earlierCalls, ...state.turn].filter(
    ({ call, outcome, reconciled }) =>
      call.effect === "change" &&
      (outcome?.status === "ok" || outcome?.status === "unknown") &&
      reconciled?.outcome !== "did_not_happen",
  );
  const effects: RunEffect[] = [];
  for (const call of changed.sort((one, other) => placeOf(other) - placeOf(one))) {
    const happened = call.outcome?.status === "ok" ? call.outcome : (foundOut(call) ?? late.get(call.call.callId));
    const result = happened === undefined ? undefined : await resultValue(store, happened);
    effects.push(result === undefined ? { call } : { call, result });
  }
  return { state, effects };
}

/** What a person said that the call gave. */
function foundOut({ reconciled }: CallState): Pick<Success, "value"> | undefined {
  return reconciled?.value === undefined ? undefined : { value: reconciled.value };
}

type Success = Extract<CallOutcome, { status: "ok" }>;

function startsOf(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const [place, { event }] of entries.entries()) {
    if (event.type === "call.started" && !starts.has(event.callId)) starts.set(event.callId, place);
  }
  return starts;
}

/** Calls that were given up as unknown and turned out to have happened. */
function lateSuccesses(entries: readonly Entry[]): ReadonlyMap<string, Success> {
  const late = new Map<string, Success>();
  for (const { event } of entries) {
    if (event.type === "call.outcome_observed" && event.outcome.status === "ok") late.set(event.callId, event.outcome);
  }
  return late;
}

async function resultValue(store: Store, { value }: Pick<Success, "value">): Promise<JsonValue | undefined> {
  if (value.blob === undefined) return value.json ?? null;
  const text = await store.blob(value.blob.sha256);
  return text === undefined ? undefined : (JSON.parse(text) as JsonValue);
}
