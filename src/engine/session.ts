import { createTranscript, type Transcript } from "../context/index.ts";
import {
  accepts,
  apply,
  type CallOutcome,
  canonicalize,
  type Entry,
  fold,
  type RunEvent,
  type RunState,
} from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { EVENT_SCHEMA, type RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import { withoutRefused } from "./points.ts";

/**
 * One worker's hold on one run: the state folded from the journal, plus events that are staged and not yet committed.
 *
 * Events that follow from each other without an effect in between are staged and committed together, so that a step
 * costs two transactions and not five; nothing acts on a staged event before `flush` has made it durable.
 */
export interface Session {
  readonly run: RunKey;
  readonly state: RunState;
  readonly head: number;
  /** The run's messages as the model reads them. */
  readonly transcript: Transcript;
  /** Applies an event to the state; `false` when it does not apply. Not durable before `flush`. */
  stage(event: RunEvent, blobs?: ReadonlyMap<string, string>): boolean;
  /** Commits what is staged. After a lost race it reads on, asks each staged event again and drops what no longer applies. */
  flush(): Promise<void>;
  /** Calls up to `foreignStep` were checked against other tool contracts than today's. */
  readonly tools: { foreignStep: number };
  /** Reads what others appended; only with nothing staged. */
  refresh(): Promise<void>;
}

/** Reads and folds a run. Throws BELAY_RUN_UNKNOWN when the store has no such run or its journal cannot be folded. */
export async function openSession(context: EngineContext, run: RunKey): Promise<Session> {
  const entries = await context.store.read(run);
  const state = fold(entries);
  if (state === undefined) {
    throw new BelayError("BELAY_RUN_UNKNOWN", `there is no run ${run.runId} in tenant ${run.tenant}; see 'belay runs'`);
  }
  return createSession(context, run, state, entries.length);
}

function createSession(context: EngineContext, run: RunKey, initial: RunState, initialHead: number): Session {
  let durable = initial;
  let head = initialHead;
  let state = initial;
  let staged: Entry[] = [];
  let blobs = new Map<string, string>();

  function stageEntry(entry: Entry): boolean {
    if (!accepts(state, entry).ok) return false;
    state = apply(state, entry) ?? state;
    staged.push(entry);
    return true;
  }

  /** Folds the staged events again on a newer durable state. What happened is never dropped, only set beside. */
  function restage(events: readonly RunEvent[]): void {
    state = durable;
    staged = [];
    for (const event of events) {
      if (stageEntry({ at: timeOf(context, state), event })) continue;
      stageObserved(event);
    }
  }

  /** An outcome that comes after the call was settled by somebody else is still evidence. */
  function stageObserved(event: RunEvent): void {
    const observed = observedOutcome(state, event);
    if (observed === undefined) return;
    if (observed.differs) {
      const detail = `call ${observed.callId} attempt ${observed.attempt}`;
      context.alarm({ code: "OUTCOME_DIFFERS", run, detail });
    }
    stageEntry({ at: timeOf(context, state), event: observed });
  }

  async function readOn(): Promise<void> {
    const newer = await context.store.read(run, head);
    durable = fold(newer, durable) ?? durable;
    head += newer.length;
  }

  return {
    run,
    transcript: createTranscript(context.render),
    tools: { foreignStep: -1 },
    get state() {
      return state;
    },
    get head() {
      return head;
    },
    stage(event, added) {
      for (const [hash, text] of added ?? []) blobs.set(hash, text);
      if (stageEntry({ at: timeOf(context, state), event })) return true;
      stageObserved(event);
      return false;
    },
    async flush() {
      while (staged.length > 0) {
        const entries = staged;
        const result = await context.store.commit({ run, head, entries, ...(blobs.size === 0 ? {} : { blobs }) });
        if (result.status === "committed") {
          const firstSeq = head + 1;
          head = result.head;
          durable = state;
          staged = [];
          blobs = new Map();
          context.publish(
            run,
            entries.map((entry, index) => ({ ...entry, seq: firstSeq + index, schema: EVENT_SCHEMA })),
          );
          return;
        }
        if (result.status === "conflict") {
          await readOn();
          restage(eventsOf(entries));
        } else {
          restage(withoutRefused(eventsOf(entries), result));
        }
      }
    },
    async refresh() {
      await readOn();
      state = durable;
    },
  };
}

function eventsOf(entries: readonly Entry[]): readonly RunEvent[] {
  return entries.map(({ event }) => event);
}

/** Time never goes backwards within a run, whatever the clock says. */
function timeOf(context: EngineContext, state: RunState): number {
  return Math.max(context.clock.now(), state.lastAt);
}

function observedOutcome(
  state: RunState,
  event: RunEvent,
): Extract<RunEvent, { type: "call.outcome_observed" }> | undefined {
  if (event.type !== "call.settled" || event.attempt === undefined) return undefined;
  const known = [...state.turn, ...state.earlierCalls].find((call) => call.call.callId === event.callId);
  const differs = textOf(known?.outcome) !== textOf(event.outcome);
  return {
    type: "call.outcome_observed",
    callId: event.callId,
    attempt: event.attempt,
    outcome: event.outcome,
    differs,
  };
}

function textOf(outcome: CallOutcome | undefined): string | undefined {
  const canonical = canonicalize(outcome);
  return canonical.ok ? canonical.text : undefined;
}
