import { DatabaseSync } from "node:sqlite";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { accepts, type CallState, canonicalize, type Entry, fold, type RunEvent, type Store } from "../../src/index.ts";
import { verifyStoreAudit } from "../../src/journal/index.ts";
import { linesOf } from "./life.ts";
import type { Stage } from "./play.ts";
import { NEXT, POINTS, RUN } from "./protocol.ts";

/** What a finished run has done, each once. */
export const EFFECTS: readonly string[] = [
  "book small",
  "ship small",
  "move small",
  "book big one",
  "wire fee",
  "ship last",
];

export interface Expected {
  /** Default `EFFECTS`. */
  readonly effects?: readonly string[];
  /** Effects that may happen beside those. */
  readonly mayAlso?: readonly string[];
  /** Ways in which the run may end; default by itself, or because nobody knows what became of the opaque call. */
  readonly ends?: readonly string[];
  /** Questions of a call; default one. */
  readonly questionsMax?: number;
}

/** What the later revision may do beside it: thank somebody, and ask once more about a tool that has changed. */
export const AFTER_REDEPLOY: Expected = { mayAlso: ["thank all"], questionsMax: 2 };

type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

function ofType<Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type): readonly Of<Type>[] {
  return events.filter((event): event is Of<Type> => event.type === type);
}

interface Effect {
  readonly what: string;
  readonly key: string;
  readonly callId: string;
}

/** What a play broke of the promises; empty when nothing. */
export async function problemsOf(stage: Stage, expected: Expected = {}): Promise<readonly string[]> {
  await stage.world.idle();
  await using store = await openSqliteStore(`${stage.folder}/store.db`);
  const first = await store.read(RUN);
  const effects = effectsOf(stage);
  const problems = [
    ...(await lostProblems(stage, store)),
    ...[first, await store.read(NEXT)].flatMap(journalProblems),
    ...effectProblems(first, effects, expected),
    ...questionProblems(first, expected.questionsMax ?? 1),
    ...(await budgetProblems(store)),
  ];
  const verdict = await verifyStoreAudit(store);
  if (!verdict.ok) problems.push(`the audit log does not verify: ${verdict.problem}`);
  const differences = await store.audit.differences();
  if (differences.length > 0) problems.push(`derived rows differ: ${JSON.stringify(differences)}`);
  if ((await store.run(NEXT))?.termination !== "completed") problems.push("the queued message has started no run");
  const weak = stage.lives.find(({ over }) => over !== undefined && over.synchronous < 2);
  if (weak !== undefined) problems.push(`commits are not durable: PRAGMA synchronous is ${weak.over?.synchronous}`);
  return problems;
}

/** Everything that took effect, without what a far side with keys has dropped. */
function effectsOf({ world, folder }: Stage): readonly Effect[] {
  const shelf = new DatabaseSync(`${folder}/shelf.db`);
  const moves = shelf.prepare("SELECT key, call_id AS callId, what FROM moves").all() as unknown as readonly Effect[];
  shelf.close();
  const asked = world.ledger.filter(({ isDropped }) => !isDropped);
  return [
    ...asked.map(({ tool, what, key, callId }) => ({ what: `${tool} ${what}`, key, callId })),
    ...moves.map(({ what, ...move }) => ({ ...move, what: `move ${what}` })),
  ];
}

/** Every answer of a store is kept: what it said is durable stands where it was said to stand. */
async function lostProblems({ lives }: Stage, store: Store): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { run, head, entries } of lives.flatMap(({ lines }) => linesOf(lines, "acknowledged"))) {
    const stored = (await store.read(run, head)).slice(0, entries.length);
    const isKept = entries.every(
      ({ at, event }, index) => at === stored[index]?.at && isSame(event, stored[index]?.event),
    );
    if (!isKept || stored.length < entries.length)
      problems.push(`acknowledged events of ${run.runId} behind ${head} are lost`);
  }
  return problems;
}

function isSame(one: RunEvent, other: RunEvent | undefined): boolean {
  const [left, right] = [canonicalize(one), canonicalize(other)];
  return left.ok && right.ok && left.text === right.text;
}

/** Each stored event applied when it was stored, and happened once. */
function journalProblems(entries: readonly Entry[]): readonly string[] {
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const accepted = accepts(fold(entries.slice(0, index)), entry);
    if (!accepted.ok) problems.push(`event ${index + 1} (${entry.event.type}) did not apply: ${accepted.reason}`);
  }
  const events = entries.map(({ event }) => event);
  problems.push(
    ...doubled(
      "settled",
      ofType(events, "call.settled").map(({ callId }) => callId),
    ),
  );
  problems.push(
    ...doubled(
      "answered",
      ofType(events, "approval.resolved").map(({ approvalId }) => approvalId),
    ),
  );
  problems.push(
    ...doubled(
      "charged",
      ofType(events, "budget.settled").map(({ reservationId }) => reservationId),
    ),
  );
  problems.push(
    ...doubled(
      "ended",
      ofType(events, "run.ended").map(() => "the run"),
    ),
  );
  return problems;
}

function doubled(how: string, ids: readonly string[]): readonly string[] {
  return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} was ${how} twice`);
}

const callsOf = (entries: readonly Entry[]): readonly CallState[] => {
  const state = fold(entries);
  return state === undefined ? [] : [...state.earlierCalls, ...state.turn];
};

function effectProblems(entries: readonly Entry[], effects: readonly Effect[], expected: Expected): readonly string[] {
  const problems: string[] = [];
  const events = entries.map(({ event }) => event);
  const termination = fold(entries)?.termination?.kind;
  for (const what of new Set(effects.map((effect) => effect.what))) {
    const count = effects.filter((effect) => effect.what === what).length;
    if (count > 1) problems.push(`${what} happened ${count} times`);
  }
  for (const { what, key, callId } of effects) {
    const starts = ofType(events, "call.started").filter((event) => event.callId === callId);
    if (!starts.some(({ idempotencyKey }) => idempotencyKey === key))
      problems.push(`${what} happened without an intent`);
  }
  const ends = expected.ends ?? ["completed", "outcome_unknown"];
  if (!ends.includes(String(termination))) problems.push(`the run ended as ${termination}`);
  const wanted = expected.effects ?? EFFECTS;
  const known = new Set([...wanted, ...(expected.mayAlso ?? [])]);
  const happened = new Set(effects.map(({ what }) => what));
  if (termination === "completed") {
    const missing = wanted.filter((what) => !happened.has(what));
    if (missing.length > 0) problems.push(`the finished run has not done ${missing.join(", ")}`);
  }
  problems.push(...effects.filter(({ what }) => !known.has(what)).map(({ what }) => `${what} should not happen`));
  return [...problems, ...unknownProblems(entries, happened)];
}

/** Only the opaque call may be in doubt, and nothing follows it. */
function unknownProblems(entries: readonly Entry[], happened: ReadonlySet<string>): readonly string[] {
  const doubtful = callsOf(entries).filter(({ outcome }) => outcome?.status === "unknown");
  const problems = doubtful
    .filter(({ call }) => call.tool !== "wire")
    .map(({ call }) => `the outcome of ${call.tool} is recorded as unknown`);
  if (doubtful.length === 0) return problems;
  const events = entries.map(({ event }) => event);
  const at = events.findIndex((event) => event.type === "call.settled" && event.outcome.status === "unknown");
  if (ofType(events.slice(at), "call.started").length > 0) problems.push("a call started after one in doubt");
  if (happened.has("ship last")) problems.push("something happened after a call in doubt");
  return problems;
}

function questionProblems(entries: readonly Entry[], questionsMax: number): readonly string[] {
  const events = entries.map(({ event }) => event);
  const questions = ofType(events, "approval.requested");
  return callsOf(entries).flatMap(({ call: { callId, tool } }) => {
    const own = questions.filter((question) => question.callId === callId);
    return own.length <= questionsMax ? [] : [`a person was asked ${own.length} times about ${tool}`];
  });
}

/**
 * No reservation is left but that of a call in doubt, each call that happened has cost its points once, and each model
 * reply its price.
 */
async function budgetProblems(store: Store): Promise<readonly string[]> {
  const problems: string[] = [];
  const [points, team] = [await store.budget(RUN.tenant, "points"), await store.budget(RUN.tenant, "team")];
  const states = [fold(await store.read(RUN)), fold(await store.read(NEXT))];
  const calls = callsOf(await store.read(RUN));
  const done = calls.filter(({ call, outcome }) => call.effect === "change" && outcome?.status === "ok").length;
  const doubtful = calls.filter(({ outcome }) => outcome?.status === "unknown").length;
  if (points.reserved > doubtful * POINTS || team.reserved !== 0) problems.push("a reservation is left");
  if (points.used + points.reserved !== (done + doubtful) * POINTS) {
    problems.push(`${points.used} points, and ${points.reserved} reserved, for ${done} calls and ${doubtful} in doubt`);
  }
  const cost = states.reduce((sum, state) => sum + (state?.usage.costNanoUsd ?? 0), 0);
  if (team.used !== cost) problems.push(`the budget has ${team.used} nano-dollars and the runs say ${cost}`);
  return problems;
}
