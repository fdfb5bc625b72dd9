import { type Filter, sizeCap, stripInvisible } from "../context/index.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/index.ts";
import { type Rule, riskRule } from "../policy/index.ts";
import type { ToolContract } from "../tool/index.ts";
import type { Agent, LimitOptions } from "./agent.ts";

/**
 * Checks that are neither data nor the application's own code. Each is asked for by name where it acts, so that an
 * evaluation can show what happens without it.
 */
const GUARDS = [
  /** Arguments are checked against the tool's schema, and undeclared keys are refused. */
  "strict_arguments",
  /** Only tools offered for the task are run. */
  "offered_tools",
  /** A verdict `ask` waits for a person. */
  "approval_gate",
  /** An approved call is judged again on today's world. */
  "approval_recheck",
  /** An unanswered question expires. */
  "approval_expiry",
  /** An approval is bound to the arguments and the tool contract that the person saw. */
  "approval_integrity",
  /** The rules run once more inside the transaction of the effect. */
  "transaction_recheck",
  /** The idempotency key is the same for every attempt of a call. */
  "stable_key",
  /** Words of outsiders reach the model inside a wrapper that they cannot close. */
  "untrusted_wrapper",
  /** A call starts only when each of its budgets has room for what it costs. */
  "points_budget",
] as const;

type GuardId = (typeof GUARDS)[number];

/** Everything that stands between a model's wish and the world, as one table built by the harness itself. */
export interface Controls {
  readonly limits: Limits;
  readonly rules: readonly Rule[];
  readonly filters: readonly Filter[];
  readonly guards: ReadonlySet<GuardId>;
}

export interface ControlInfo {
  /** `limit:…`, `rule:…`, `filter:…` or `guard:…`. */
  readonly id: string;
  readonly kind: "limit" | "rule" | "filter" | "guard";
}

/** Builds the table for an agent. There is no option to leave an entry out. */
export function buildControls(agent: Agent, contracts: readonly ToolContract[]): Controls {
  // A bound that is present and undefined is a bound that was not given, never one that is lifted.
  const given = Object.fromEntries(Object.entries(agent.limits ?? {}).filter(([, value]) => value !== undefined));
  const { costUsdMax, ...limits }: LimitOptions = given;
  const filters = [...(agent.filters ?? []), stripInvisible()];
  const risk = riskRule(contracts);
  return {
    limits: {
      ...withoutOff({ ...DEFAULT_LIMITS, ...limits }),
      ...(costUsdMax === undefined ? {} : { costNanoUsdMax: Math.round(costUsdMax * 1e9) }),
    },
    rules: risk === undefined ? [...agent.rules] : [...agent.rules, risk],
    // An agent sets another cap by naming its own; without any the default holds.
    filters: filters.some(({ id }) => id === "size_cap") ? filters : [...filters, sizeCap()],
    guards: new Set(GUARDS.filter((id) => id !== "points_budget" || agent.budget)),
  };
}

/** Leaves out the bounds that an agent has switched off. */
function withoutOff(limits: Omit<Limits, "costNanoUsdMax" | keyof Switchable> & Switchable): Limits {
  const { identicalCalls, cycles, invalidCallsMax, ...rest } = limits;
  return {
    ...rest,
    ...(identicalCalls === undefined || identicalCalls === "off" ? {} : { identicalCalls }),
    ...(cycles === undefined || cycles === "off" ? {} : { cycles }),
    ...(invalidCallsMax === undefined || invalidCallsMax === "off" ? {} : { invalidCallsMax }),
  };
}

type Switchable = Pick<LimitOptions, "identicalCalls" | "cycles" | "invalidCallsMax">;

/** How to take one limit away, by the id that a termination reports. */
const WITHOUT_LIMIT: Readonly<Record<string, (limits: Limits) => Limits>> = {
  max_steps: (limits) => ({ ...limits, stepsMax: Number.MAX_SAFE_INTEGER }),
  token_budget: ({ tokensMax: _removed, ...limits }) => limits,
  cost_budget: ({ costNanoUsdMax: _removed, ...limits }) => limits,
  wall_clock: ({ wallClockMs: _removed, ...limits }) => limits,
  repeated_call: ({ identicalCalls: _removed, ...limits }) => limits,
  cycle: ({ cycles: _removed, ...limits }) => limits,
  invalid_calls: ({ invalidCallsMax: _removed, ...limits }) => limits,
  unreadable_replies: (limits) => ({ ...limits, unreadableRepliesMax: Number.MAX_SAFE_INTEGER }),
  rejections: ({ rejectionsMax: _removed, ...limits }) => limits,
  calls_per_turn: (limits) => ({ ...limits, callsPerTurnMax: Number.MAX_SAFE_INTEGER }),
};

const OPTIONAL_LIMITS: Readonly<Record<string, keyof Limits>> = {
  token_budget: "tokensMax",
  cost_budget: "costNanoUsdMax",
  wall_clock: "wallClockMs",
  repeated_call: "identicalCalls",
  cycle: "cycles",
  invalid_calls: "invalidCallsMax",
  rejections: "rejectionsMax",
};

/** Lists every control of an agent by id. */
export function listControls(controls: Controls): readonly ControlInfo[] {
  const limits = Object.keys(WITHOUT_LIMIT).filter((id) => {
    const field = OPTIONAL_LIMITS[id];
    return field === undefined || controls.limits[field] !== undefined;
  });
  return [
    ...limits.map((id) => ({ id: `limit:${id}`, kind: "limit" }) as const),
    ...controls.rules.map(({ id }) => ({ id: `rule:${id}`, kind: "rule" }) as const),
    ...controls.filters.map(({ id }) => ({ id: `filter:${id}`, kind: "filter" }) as const),
    ...[...controls.guards].map((id) => ({ id: `guard:${id}`, kind: "guard" }) as const),
  ];
}

/** The table without some controls; for evaluations alone. Ids must be those of `listControls`. */
export function withoutControls(controls: Controls, without: readonly string[]): Controls {
  let { limits } = controls;
  for (const id of without) limits = WITHOUT_LIMIT[id.replace(/^limit:/, "")]?.(limits) ?? limits;
  const isKept = (kind: string) => (entry: { readonly id: string }) => !without.includes(`${kind}:${entry.id}`);
  return {
    limits,
    rules: controls.rules.filter(isKept("rule")),
    filters: controls.filters.filter(isKept("filter")),
    guards: new Set([...controls.guards].filter((id) => !without.includes(`guard:${id}`))),
  };
}
