import { rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import {
  accepts,
  argsHash,
  type CallState,
  type Entry,
  fold,
  type JsonValue,
  type ModelRequest,
  type RunEvent,
  type RunState,
} from "../../../src/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import { SECRET } from "./far-side.ts";
import type { Played } from "./play.ts";

/** What a play broke of the promises, each with the number of its invariant; empty when nothing. */
export async function problemsOf(played: Played): Promise<readonly string[]> {
  const { store, runs, hasEnded } = played;
  const problems: string[] = hasEnded ? [] : ["a run never ends"];
  const journals: Entry[][] = [];
  for (const run of runs) {
    const entries = [...(await store.read(run))];
    journals.push(entries);
    problems.push(...journalProblems(entries).map((problem) => `${run.runId}: ${problem}`));
  }
  problems.push(...effectProblems(played, journals));
  problems.push(...contextProblems(played.requests));
  problems.push(...(await durabilityProblems(played)));
  problems.push(...(await budgetProblems(played, journals)));
  problems.push(...(await secretProblems(played, journals)));
  const verdict = await verifyStoreAudit(store);
  if (!verdict.ok) problems.push(`9: the audit log does not verify: ${verdict.problem}`);
  if (store.kind === "sqlite") {
    const differences = await rebuildProjections(store, { dryRun: true });
    if (differences.length > 0) problems.push(`8: ${differences.length} derived rows differ`);
  }
  return problems;
}

type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

function ofType<Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type): readonly Of<Type>[] {
  return events.filter((event): event is Of<Type> => event.type === type);
}

const callsOf = (state: RunState | undefined): readonly CallState[] =>
  state === undefined ? [] : [...state.earlierCalls, ...state.turn];

/** Each stored event applied when it was stored, and what is final stays final. */
function journalProblems(entries: readonly Entry[]): readonly string[] {
  const problems: string[] = [];
  let state: RunState | undefined;
  for (const [index, entry] of entries.entries()) {
    const { event } = entry;
    const accepted = accepts(state, entry);
    if (!accepted.ok) problems.push(`7: event ${index + 1} (${event.type}) did not apply: ${accepted.reason}`);
    if (state !== undefined && entry.at < state.lastAt) problems.push(`7: event ${index + 1} goes back in time`);
    if (event.type === "call.started") problems.push(...startProblems(entries.slice(0, index), event));
    state = fold([entry], state);
  }
  const events = entries.map(({ event }) => event);
  problems.push(...answerProblems(events));
  const calls = callsOf(state);
  for (const { call, outcome } of calls) {
    const { callId } = call;
    if (state?.termination !== undefined && outcome === undefined) problems.push(`6: ${callId} has no outcome`);
    const results = state?.messages.filter((message) => message.role === "tool" && message.callId === callId) ?? [];
    if (state?.termination !== undefined && results.length !== 1)
      problems.push(`6: ${callId} has ${results.length} results`);
    const settled = ofType(events, "call.settled").filter((event) => event.callId === callId);
    if (settled.length > 1) problems.push(`3: ${callId} settled ${settled.length} times`);
    const decided = ofType(events, "call.decided").filter((event) => event.callId === callId);
    if (decided.length > 4) problems.push(`8: ${callId} was decided ${decided.length} times`);
  }
  if (ofType(events, "run.ended").length > 1) problems.push("2: the run ended twice");
  return problems;
}

/** A start stands behind a verdict that allows it, or behind a person's yes and a policy that still lets it through. */
function startProblems(
  before: readonly Entry[],
  { callId, attempt, idempotencyKey }: Of<"call.started">,
): readonly string[] {
  const events = before.map(({ event }) => event).filter((event) => "callId" in event && event.callId === callId);
  const problems: string[] = [];
  const last = ofType(events, "call.decided").at(-1);
  const asked = ofType(events, "approval.requested").at(-1);
  const answered = ofType(events, "approval.resolved").at(-1);
  const lets = last?.decision.verdict === "allow" || (last?.recheck === true && last.decision.verdict === "ask");
  if (!lets) problems.push(`1: ${callId} started after ${last?.decision.verdict ?? "no verdict"}`);
  if (asked !== undefined) {
    const isYes =
      answered?.answer === "approved" && answered.by.kind === "person" && answered.approvalId === asked.approvalId;
    if (!isYes || answered?.argsHash !== asked.argsHash) problems.push(`1: ${callId} started without a person's yes`);
    if (last?.recheck !== true) problems.push(`1: ${callId} started without a second look`);
  }
  const isFinal =
    ofType(events, "call.settled").length > 0 ||
    ofType(events, "approval.expired").length > 0 ||
    ofType(events, "approval.resolved").some(({ answer }) => answer === "rejected");
  if (isFinal) problems.push(`2: ${callId} started again after its end`);
  const earlier = ofType(events, "call.started");
  if (earlier.some((event) => event.idempotencyKey !== idempotencyKey)) problems.push(`3: ${callId} has two keys`);
  if (attempt !== earlier.length + 1)
    problems.push(`3: attempt ${attempt} of ${callId} is number ${earlier.length + 1}`);
  return problems;
}

function answerProblems(events: readonly RunEvent[]): readonly string[] {
  const problems: string[] = [];
  for (const { by, approvalId } of ofType(events, "approval.resolved")) {
    if (by.kind !== "person") problems.push(`5: ${by.kind} answered ${approvalId}`);
    const answers = ofType(events, "approval.resolved").filter((event) => event.approvalId === approvalId);
    if (answers.length > 1) problems.push(`2: ${approvalId} has ${answers.length} answers`);
  }
  return problems;
}

/** What happened on the far side, against what the journal says should have. */
function effectProblems({ far }: Played, journals: readonly (readonly Entry[])[]): readonly string[] {
  const problems: string[] = [];
  const [entries = []] = journals;
  const events = entries.map(({ event }) => event);
  const calls = callsOf(fold(entries));
  for (const { tool, callId, key, args, wasRecorded } of far.ran.filter((each) => each.tool !== "read")) {
    if (!wasRecorded) problems.push(`7: ${callId} (${tool}) happened before its intent was durable`);
    const call = calls.find((each) => each.call.callId === callId);
    if (call?.idempotencyKey !== key) problems.push(`3: ${callId} happened under the key ${key}`);
    if (call === undefined || argsHash(tool, call.call.args) !== argsHash(tool, args as JsonValue)) {
      problems.push(`1: ${callId} happened with other arguments than were recorded`);
    }
    const asked = ofType(events, "approval.requested").findLast((event) => event.callId === callId);
    if (asked !== undefined && asked.argsHash !== argsHash(tool, args as JsonValue)) {
      problems.push(`1: ${callId} happened with other arguments than a person saw`);
    }
  }
  for (const { call, outcome } of calls.filter((each) => each.call.effect === "change")) {
    const { callId, tool } = call;
    const count = far.happened.filter((each) => each.callId === callId).length;
    if (count > 1) problems.push(`3: ${callId} (${tool}) happened ${count} times`);
    if (outcome?.status === "ok" && count !== 1 && !isEmptyOk(call.args)) {
      problems.push(`7: ${callId} is recorded as done and happened ${count} times`);
    }
    if (outcome !== undefined && NOTHING_HAPPENED.has(outcome.status) && count > 0) {
      problems.push(`2: ${callId} is recorded as ${outcome.status} and happened`);
    }
    const isPlainNo = outcome?.status === "failed" && outcome.error.code === "SAID_NO";
    if (isPlainNo && count > 0) problems.push(`3: ${callId} failed and happened`);
  }
  return problems;
}

const NOTHING_HAPPENED: ReadonlySet<string> = new Set([
  "refused",
  "denied",
  "rejected",
  "expired",
  "world_changed",
  "not_run",
]);

/** A tool of a transaction that was told to hang answers at once and does nothing. */
function isEmptyOk(args: JsonValue): boolean {
  return (args as { acts?: string } | null)?.acts === "hang";
}

/** Each request that a model got is one that a provider takes: every call has one result, directly behind its turn. */
function contextProblems(requests: readonly ModelRequest[]): readonly string[] {
  const problems: string[] = [];
  for (const { messages } of requests) {
    const asked = messages.flatMap((message) =>
      message.role === "assistant" ? message.calls.map(({ callId }) => callId) : [],
    );
    const answered = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    if (JSON.stringify(asked) !== JSON.stringify(answered)) problems.push(`6: asked ${asked} and answered ${answered}`);
    if (new Set(asked).size !== asked.length) problems.push("6: a call id stands twice in a request");
  }
  return problems;
}

async function durabilityProblems({ acknowledged, store }: Played): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { run, head, entries } of acknowledged) {
    const stored = (await store.read(run, head)).slice(0, entries.length);
    const same = entries.every(
      ({ at, event }, index) => stored[index]?.at === at && sameJson(stored[index]?.event, event),
    );
    if (!same || stored.length !== entries.length) problems.push(`7: acknowledged entries behind ${head} are lost`);
  }
  return problems;
}

function sameJson(one: unknown, other: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_key, each: unknown) =>
      typeof each === "object" && each !== null && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).toSorted(([left], [right]) => (left < right ? -1 : 1)))
        : each,
    );
  return text(one) === text(other);
}

async function budgetProblems(played: Played, journals: readonly (readonly Entry[])[]): Promise<readonly string[]> {
  const { store, plan, teamMax, hasEnded } = played;
  const problems: string[] = [];
  const points = await store.budget("default", "points");
  const team = await store.budget("default", "team");
  if (points.used + points.reserved > plan.pointsMax) problems.push(`4: ${points.used} points of ${plan.pointsMax}`);
  if (team.used + team.reserved > teamMax) problems.push(`4: ${team.used} nano-dollars of ${teamMax}`);
  if (!hasEnded) return problems;
  const calls = journals.flatMap((entries) => callsOf(fold(entries)));
  const doubtful = calls.filter(isDoubtful).length;
  const spent = calls.filter(isSpent).length;
  // What a call in doubt has reserved stays, until a person finds out what became of it.
  if (points.reserved !== doubtful || team.reserved !== 0) problems.push("4: a reservation was never settled");
  if (points.used !== spent) problems.push(`4: ${points.used} points for ${spent} calls`);
  const unknown = journals.some((entries) => fold(entries)?.usage.costUnknown === true);
  if (unknown) problems.push("4: an unknown cost");
  return problems;
}

function isDoubtful({ outcome }: CallState): boolean {
  return outcome?.status === "unknown";
}

function isSpent({ call, outcome }: CallState): boolean {
  if (call.effect === "read" || outcome === undefined) return false;
  if (outcome.status === "ok") return true;
  return outcome.status === "failed" && outcome.error.code === "result_not_json";
}

async function secretProblems(
  { store, requests }: Played,
  journals: readonly (readonly Entry[])[],
): Promise<readonly string[]> {
  const audit = await store.audit.entries(0, 100_000);
  return JSON.stringify([journals, requests, audit]).includes(SECRET) ? ["11: a secret was told"] : [];
}
