import type { CallState, Entry, Limits, RunState } from "../core/index.ts";
import type { LimitReach } from "./case-result.ts";
import { needOf } from "./limit-need.ts";

/** How far a run came, against the largest number with which a limit lets it go on. */
interface Gauge {
  readonly limit: string;
  readonly used: number | undefined;
  readonly allowed: number | undefined;
}

const TOO_MANY_CALLS = "too_many_calls";

/** Where one run stood to each of its own limits. */
export function limitsReachedBy(state: RunState, entries: readonly Entry[]): readonly LimitReach[] {
  const stopped = new Set(
    entries.flatMap(({ event }): readonly string[] => (event.type === "limit.reached" ? [event.limit] : [])),
  );
  const end = state.termination ?? state.ending;
  if (end?.kind === "limit") {
    stopped.add(end.limit);
  }
  if ([...state.earlierCalls, ...state.turn].some(isOverCap)) {
    stopped.add("calls_per_turn");
  }
  return [
    ...[...stopped].map((limit): LimitReach => ({ limit, level: "limit+1" })),
    ...gauges(state, entries).flatMap(({ limit, used, allowed }): readonly LimitReach[] => {
      if (used === undefined || allowed === undefined || stopped.has(limit)) {
        return [];
      }
      return used === allowed ? [{ limit, level: "limit" }] : used === allowed - 1 ? [{ limit, level: "limit-1" }] : [];
    }),
  ];
}

function gauges(state: RunState, entries: readonly Entry[]): readonly Gauge[] {
  const { limits, callKeys } = state;
  const need = needOf(entries);
  return [
    { limit: "max_steps", used: state.step, allowed: limits.stepsMax },
    { limit: "token_budget", used: need.tokens, allowed: limits.tokensMax },
    { limit: "cost_budget", used: need.costNanoUsd, allowed: limits.costNanoUsdMax },
    { limit: "wall_clock", used: state.workedMs, allowed: limits.wallClockMs },
    repeatedGauge(limits, callKeys),
    cycleGauge(limits, callKeys),
    { limit: "invalid_calls", used: state.invalidCalls, allowed: limits.invalidCallsMax },
    { limit: "unreadable_replies", used: unreadableInRow(entries), allowed: limits.unreadableRepliesMax - 1 },
    { limit: "rejections", used: rejections(state), allowed: (limits.rejectionsMax ?? Number.NaN) - 1 },
    { limit: "calls_per_turn", used: callsOfTurn(entries), allowed: limits.callsPerTurnMax },
  ];
}

function isOverCap({ outcome }: CallState): boolean {
  return outcome !== undefined && outcome.status !== "ok" && outcome.error.code === TOO_MANY_CALLS;
}

function repeatedGauge({ identicalCalls }: Limits, keys: readonly string[]): Gauge {
  const limit = "repeated_call";
  if (identicalCalls === undefined) {
    return { limit, used: undefined, allowed: undefined };
  }
  const { max, scope } = identicalCalls;
  return scope === "run"
    ? { limit, used: largest(keys.map((key) => keys.filter((other) => other === key).length)), allowed: max }
    : { limit, used: longestRow(keys), allowed: max - 1 };
}

function longestRow(keys: readonly string[]): number {
  let longest = 0;
  let row = 0;
  keys.forEach((key, at) => {
    row = key === keys[at - 1] ? row + 1 : 1;
    longest = Math.max(longest, row);
  });
  return longest;
}

/** Calls of the longest cycle so far; one more than `period × repeats − 1` would stop the run. */
function cycleGauge({ cycles }: Limits, keys: readonly string[]): Gauge {
  const limit = "cycle";
  if (cycles === undefined) {
    return { limit, used: undefined, allowed: undefined };
  }
  // Counted against the bound of each period, so that the closest one tells.
  const short = Array.from({ length: Math.max(0, cycles.lengthMax - 1) }, (_, at) => {
    const period = at + 2;
    return period * cycles.repeats - longestWithPeriod(keys, period);
  });
  return { limit, used: -Math.min(...short, Number.MAX_SAFE_INTEGER), allowed: -1 };
}

function longestWithPeriod(keys: readonly string[], period: number): number {
  let longest = 0;
  let row = 0;
  for (let at = period; at < keys.length; at += 1) {
    const repeats = keys[at] === keys[at - period] && keys[at] !== keys[at - 1];
    row = repeats ? row + 1 : 0;
    longest = Math.max(longest, row === 0 ? 0 : row + period);
  }
  return longest;
}

function unreadableInRow(entries: readonly Entry[]): number {
  let longest = 0;
  let row = 0;
  for (const { event } of entries) {
    if (event.type === "model.replied") {
      row = event.output.kind === "unreadable" ? row + 1 : 0;
      longest = Math.max(longest, row);
    }
  }
  return longest;
}

function rejections(state: RunState): number {
  return [...state.earlierCalls, ...state.turn].filter(({ outcome }) => outcome?.status === "rejected").length;
}

function callsOfTurn(entries: readonly Entry[]): number {
  return largest(
    entries.map(({ event }) =>
      event.type === "model.replied" && event.output.kind === "calls" ? event.output.calls.length : 0,
    ),
  );
}

function largest(numbers: readonly number[]): number {
  return Math.max(0, ...numbers);
}
