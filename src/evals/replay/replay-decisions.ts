import type { AnyApp, MoneyAtStake, World } from "../../config.ts";
import {
  apply,
  type CallState,
  canonicalize,
  type Decision,
  type Entry,
  type JsonValue,
  type RunState,
} from "../../core/index.ts";
import type { RunKey } from "../../journal/index.ts";
import { createReplayPolicy, type ReplayPolicy } from "./replay-policy.ts";

/** What the rules said then and what they say now. Only what matters to the call is kept. */
export type ReplayedDecision = Pick<Decision, "verdict" | "code" | "reason" | "ruleId">;

export interface ReplayedCall {
  readonly callId: string;
  readonly step: number;
  readonly tool: string;
  readonly args: JsonValue;
  /** A person had approved the call and the rules were asked again. */
  readonly recheck: boolean;
  readonly recorded: ReplayedDecision;
  readonly today: ReplayedDecision;
  /** Verdict or code is another one. */
  readonly isChanged: boolean;
  /** Names of what the deciding rule read then and finds different now: the world speaks, not only the rules. */
  readonly inputsDiffer: readonly string[];
  readonly money?: MoneyAtStake;
}

export interface ReplayReport {
  readonly runId: string;
  readonly app: string;
  readonly calls: readonly ReplayedCall[];
  /** Effects of the run that could not be made again in the replay's world; later decisions may rest on them. */
  readonly effectsLeftOut: readonly string[];
  /** The money of all calls whose decision changes, by unit. */
  readonly atStake: Readonly<Record<string, number>>;
}

/**
 * Decides each call of a recorded run again by today's rules, on what the run had before it: the user's words, memory,
 * principal, earlier calls and the time.
 *
 * The rules read a fresh world of the app in memory. Effects that the run had are made again there, and only those of
 * tools that run in the world's own transaction: nothing outside is touched, and no model is asked. What a rule takes
 * from `read` is what was recorded.
 */
export async function replayDecisions(app: AnyApp, run: RunKey, entries: readonly Entry[]): Promise<ReplayReport> {
  const world: World = app.openWorld(":memory:");
  try {
    const policy = createReplayPolicy(app, world, run);
    const calls: ReplayedCall[] = [];
    const leftOut: string[] = [];
    let state: RunState | undefined;
    for (const entry of entries) {
      calls.push(...(await decidedBy(policy, state, entry, app)));
      const next = apply(state, entry);
      calls.push(...(await refusedBy(policy, next, entry, app)));
      const left = next === undefined ? undefined : makeEffect(policy, next, entry);
      leftOut.push(...(left === undefined ? [] : [left]));
      state = next;
    }
    return { runId: run.runId, app: app.name, calls, effectsLeftOut: leftOut, atStake: moneyOf(calls) };
  } finally {
    world.close();
  }
}

/** The call that an entry decides, judged again on the state before it. */
async function decidedBy(
  policy: ReplayPolicy,
  state: RunState | undefined,
  { at, event }: Entry,
  app: AnyApp,
): Promise<readonly ReplayedCall[]> {
  if (state === undefined || event.type !== "call.decided") {
    return [];
  }
  const call = callOf(state, event.callId);
  const recheck = event.recheck === true;
  if (call === undefined) {
    return [];
  }
  const now = await policy.decide(state, call, { at, recheck, reads: event.decision.reads });
  return [replayed(app, call, recheck, event.decision, now)];
}

/** Calls that were refused before any rule saw them; a tool or a schema may have changed. */
async function refusedBy(
  policy: ReplayPolicy,
  state: RunState | undefined,
  { at, event }: Entry,
  app: AnyApp,
): Promise<readonly ReplayedCall[]> {
  if (state === undefined || event.type !== "model.replied" || event.output.kind !== "calls") {
    return [];
  }
  const refused: ReplayedCall[] = [];
  for (const { callId, refusal } of event.output.calls) {
    const call = callOf(state, callId);
    if (refusal !== undefined && call !== undefined) {
      const now = await policy.decide(state, call, { at, recheck: false, reads: undefined });
      const recorded: Decision = {
        verdict: "deny",
        code: refusal.code,
        reason: refusal.message,
        ruleId: "belay.prepare",
      };
      refused.push(replayed(app, call, false, recorded, now));
    }
  }
  return refused;
}

/** A sentence about the effect that had to be left out. */
function makeEffect(policy: ReplayPolicy, state: RunState, { at, event }: Entry): string | undefined {
  if (event.type !== "call.settled" || event.outcome.status !== "ok") {
    return undefined;
  }
  const call = callOf(state, event.callId);
  return call === undefined ? undefined : policy.makeEffect(state, call, at);
}

/** A turn of which every call is refused is over with the reply that asks for them. */
function callOf({ turn, earlierCalls }: RunState, callId: string): CallState | undefined {
  return [...turn, ...earlierCalls].find(({ call }) => call.callId === callId);
}

function replayed(app: AnyApp, state: CallState, recheck: boolean, recorded: Decision, today: Decision): ReplayedCall {
  const { callId, tool, args } = state.call;
  const money = app.moneyAtStake?.({ tool, args });
  return {
    callId,
    step: state.step,
    tool,
    args,
    recheck,
    recorded: brief(recorded),
    today: brief(today),
    isChanged: recorded.verdict !== today.verdict || recorded.code !== today.code,
    inputsDiffer: recorded.ruleId === today.ruleId ? differentReads(recorded.reads, today.reads) : [],
    ...(money !== undefined && { money }),
  };
}

function brief({ verdict, code, reason, ruleId }: Decision): ReplayedDecision {
  return { verdict, code, reason, ruleId };
}

function differentReads(then: JsonValue | undefined, now: JsonValue | undefined): readonly string[] {
  const [before, after] = [fieldsOf(then), fieldsOf(now)];
  return [...before].filter(([name, text]) => after.has(name) && after.get(name) !== text).map(([name]) => name);
}

function fieldsOf(reads: JsonValue | undefined): ReadonlyMap<string, string> {
  const isObject = typeof reads === "object" && reads !== null && !Array.isArray(reads);
  return new Map(
    Object.entries(isObject ? reads : {}).map(([name, value]) => {
      const canonical = canonicalize(value);
      return [name, canonical.ok ? canonical.text : JSON.stringify(value)];
    }),
  );
}

/** A call that is decided twice, before and after a person's answer, is the same money. */
function moneyOf(calls: readonly ReplayedCall[]): Readonly<Record<string, number>> {
  const changed = new Map(calls.filter(({ isChanged }) => isChanged).map((call) => [call.callId, call]));
  const sums = new Map<string, number>();
  for (const { money } of changed.values()) {
    if (money !== undefined) {
      sums.set(money.unit, (sums.get(money.unit) ?? 0) + money.amount);
    }
  }
  return Object.fromEntries(sums);
}
