import { createTranscript, type Transcript } from "../context/index.ts";
import {
  apply,
  type CallOutcome,
  canonicalize,
  type Entry,
  EVENT_SCHEMA,
  fold,
  type RunEvent,
  type RunState,
} from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, StoredEntry } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

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
  return createSession({ context, run, durable: state, state, head: entries.length, staged: [], blobs: new Map() });
}

/**
 * A run that is in no store yet: its first events are staged, and what follows from them at once joins their commit.
 *
 * `flush` throws BELAY_RUN_EXISTS when the name is taken, and takes nothing further up after a commit that failed.
 */
export function foundSession(context: EngineContext, run: RunKey, first: readonly RunEvent[]): Session {
  const unwritten = { durable: undefined, state: undefined, head: 0, staged: [], blobs: new Map() };
  const session = createSession({ context, run, ...unwritten });
  for (const event of first) session.stage(event);
  return session;
}

/** What a session holds: the state as committed, and as it will be when `staged` is committed too. */
interface Held {
  readonly context: EngineContext;
  readonly run: RunKey;
  /** Undefined before the first commit of a new run. */
  durable: RunState | undefined;
  /** Undefined before the first event of a new run. */
  state: RunState | undefined;
  head: number;
  staged: Entry[];
  blobs: Map<string, string>;
}

function createSession(held: Held): Session {
  return {
    run: held.run,
    transcript: createTranscript(held.context.render),
    tools: { foreignStep: -1 },
    get state() {
      if (held.state !== undefined) return held.state;
      throw new BelayError("BELAY_INTERNAL", `run ${held.run.runId} was used before its first event`);
    },
    get head() {
      return held.head;
    },
    stage(event, added) {
      for (const [hash, text] of added ?? []) held.blobs.set(hash, text);
      if (stageEvent(held, event)) return true;
      stageObserved(held, event);
      return false;
    },
    async flush() {
      while (held.staged.length > 0) await commitStaged(held);
    },
    async refresh() {
      held.context.publish(held.run, await readOn(held));
      held.state = held.durable;
    },
  };
}

function stageEvent(held: Held, event: RunEvent): boolean {
  const entry: Entry = { at: timeOf(held.context, held.state), event };
  const next = apply(held.state, entry);
  // An entry that applies always makes another state, because time goes on with it.
  if (next === undefined || next === held.state) return false;
  held.state = next;
  held.staged.push(entry);
  return true;
}

/** An outcome that comes after the call was settled by somebody else is still evidence. */
function stageObserved(held: Held, event: RunEvent): void {
  const observed = held.state && observedOutcome(held.state, event);
  if (observed === undefined) return;
  if (observed.differs) {
    const detail = `call ${observed.callId} attempt ${observed.attempt}`;
    held.context.alarm({ code: "OUTCOME_DIFFERS", run: held.run, detail });
  }
  stageEvent(held, observed);
}

/** Folds the staged events again on a newer durable state. What happened is never dropped, only set beside. */
function restage(held: Held, events: readonly RunEvent[]): void {
  held.state = held.durable;
  held.staged = [];
  for (const event of events) {
    if (!stageEvent(held, event)) stageObserved(held, event);
  }
}

async function readOn(held: Held): Promise<readonly StoredEntry[]> {
  const newer = await held.context.store.read(held.run, held.head);
  held.durable = fold(newer, held.durable) ?? held.durable;
  held.head += newer.length;
  return newer;
}

async function commitStaged(held: Held): Promise<void> {
  const { context, run, head, staged: entries, blobs } = held;
  // Of a run that nobody knows yet nothing is tried again: its caller hears that it was not begun.
  if (head === 0) held.staged = [];
  const result = await context.store.commit({ run, head, entries, ...(blobs.size === 0 ? {} : { blobs }) });
  switch (result.status) {
    case "committed": {
      Object.assign(held, { head: result.head, durable: held.state, staged: [], blobs: new Map() });
      context.publish(
        run,
        entries.map((entry, index) => ({ ...entry, seq: head + 1 + index, schema: EVENT_SCHEMA })),
      );
      return;
    }
    case "conflict": {
      const newer = await readOn(held);
      const left = (await import("./lost-commit.ts")).afterConflict(context, entries, newer);
      if (head === 0 && left.length > 0) {
        // What was staged for a new run says nothing about another one of the same name.
        Object.assign(held, { head, durable: undefined });
        throw new BelayError("BELAY_RUN_EXISTS", `run ${run.runId} exists already`);
      }
      // What others wrote, or this worker without an answer: whoever follows the run sees no gap.
      context.publish(run, newer);
      restage(held, left);
      return;
    }
    case "refused":
      restage(held, (await import("./lost-commit.ts")).afterRefusal(entries, result));
  }
}

/** Time never goes backwards within a run, whatever the clock says. */
function timeOf(context: EngineContext, state: RunState | undefined): number {
  return Math.max(context.clock.now(), state?.lastAt ?? 0);
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
