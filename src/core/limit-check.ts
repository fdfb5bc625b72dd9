import type { Reservation } from "./event.ts";
import type { Limits } from "./limits.ts";
import type { RunState } from "./run-state.ts";
import type { LimitId } from "./termination.ts";

export interface LimitHit {
  readonly limit: LimitId;
  readonly detail: string;
}

/**
 * The limit that forbids the next model call, or `undefined`.
 *
 * Checked before the call: `used + estimated input + most output > limit` stops the run. `now` in milliseconds.
 */
export function limitBeforeModelCall(state: RunState, now: number, next: Reservation): LimitHit | undefined {
  const { limits, usage } = state;
  if (state.step - state.retries >= limits.stepsMax) {
    return { limit: "max_steps", detail: `reached the per-run step limit of ${limits.stepsMax} model calls` };
  }
  // An interrupted call left no usage: it counts at its reservation.
  const open = state.openRequest;
  const usedTokens = usage.inputTokens + usage.outputTokens + (open ? open.inputTokens + open.outputTokens : 0);
  if (limits.tokensMax !== undefined && usedTokens + next.inputTokens + next.outputTokens > limits.tokensMax) {
    return {
      limit: "token_budget",
      detail: `next model call (~${next.inputTokens} input tokens + up to ${next.outputTokens} output) would exceed the budget of ${limits.tokensMax} (used ${usedTokens})`,
    };
  }
  return costLimit(state, next) ?? wallClockLimit(state, now);
}

function costLimit(state: RunState, next: Reservation): LimitHit | undefined {
  const { costNanoUsdMax } = state.limits;
  if (costNanoUsdMax === undefined) return undefined;
  const { usage, openRequest } = state;
  const openCost = openRequest === undefined ? 0 : openRequest.costNanoUsd;
  if (usage.costUnknown || next.costNanoUsd === undefined || openCost === undefined) {
    return { limit: "cost_budget", detail: "the cost of a model call is unknown, and unknown is never zero" };
  }
  const used = usage.costNanoUsd + openCost;
  if (used + next.costNanoUsd <= costNanoUsdMax) return undefined;
  return {
    limit: "cost_budget",
    detail: `next model call (up to $${dollars(next.costNanoUsd)}) would exceed the budget of $${dollars(costNanoUsdMax)} (used $${dollars(used)})`,
  };
}

/** The wall clock's limit alone, which is also looked at before a tool starts. */
export function wallClockLimit(state: RunState, now: number): LimitHit | undefined {
  const { wallClockMs } = state.limits;
  if (wallClockMs === undefined) return undefined;
  const worked = workedMs(state, now);
  if (worked <= wallClockMs) return undefined;
  return {
    limit: "wall_clock",
    detail: `run exceeded the wall-clock limit of ${wallClockMs / 1000}s (${(worked / 1000).toFixed(1)}s)`,
  };
}

/** Working time so far; waiting for people and downtime between segments do not count. */
export function workedMs(state: RunState, now: number): number {
  return state.workedMs + (state.segmentLastAt === undefined ? 0 : Math.max(0, now - state.segmentLastAt));
}

/** The limit that the calls asked for so far reach, `callKeys` being those of the run in order. */
export function limitAfterReply(
  limits: Limits,
  callKeys: readonly string[],
  newKeys: number,
  invalidCalls: number,
): LimitHit | undefined {
  for (let length = callKeys.length - newKeys + 1; length <= callKeys.length; length += 1) {
    const hit = repeatedCall(limits, callKeys, length) ?? cycle(limits, callKeys, length);
    if (hit !== undefined) return hit;
  }
  if (limits.invalidCallsMax !== undefined && invalidCalls > limits.invalidCallsMax) {
    return {
      limit: "invalid_calls",
      detail: `${invalidCalls} calls did not fit their schema (limit ${limits.invalidCallsMax})`,
    };
  }
  return undefined;
}

function repeatedCall(limits: Limits, keys: readonly string[], length: number): LimitHit | undefined {
  const { identicalCalls } = limits;
  const key = keys[length - 1];
  if (identicalCalls === undefined || key === undefined) return undefined;
  const { max, scope } = identicalCalls;
  let count = 0;
  for (let index = length - 1; index >= 0; index -= 1) {
    if (keys[index] === key) count += 1;
    else if (scope === "consecutive") break;
  }
  const tool = key.slice(0, key.indexOf(" "));
  if (scope === "consecutive") {
    return count >= max
      ? { limit: "repeated_call", detail: `${tool} was requested ${count} times in a row with identical arguments` }
      : undefined;
  }
  return count > max
    ? { limit: "repeated_call", detail: `${tool} was requested ${count} times with identical arguments` }
    : undefined;
}

function cycle(limits: Limits, keys: readonly string[], length: number): LimitHit | undefined {
  if (limits.cycles === undefined) return undefined;
  const { lengthMax, repeats } = limits.cycles;
  // Period 1 is the business of `identicalCalls`.
  for (let period = 2; period <= lengthMax && period * repeats <= length; period += 1) {
    const start = length - period * repeats;
    let isPeriodic = true;
    for (let index = start + period; index < length && isPeriodic; index += 1) {
      isPeriodic = keys[index] === keys[index - period];
    }
    // A run of one and the same call has every period.
    if (isPeriodic && keys[length - 1] !== keys[length - 2]) {
      return { limit: "cycle", detail: `the last ${period} calls were repeated ${repeats} times` };
    }
  }
  return undefined;
}

function dollars(nanoUsd: number): string {
  return (nanoUsd / 1e9).toFixed(9).replace(/0+$/, "").replace(/\.$/, ".0");
}
