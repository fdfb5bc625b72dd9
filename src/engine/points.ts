import { type CallState, findCall, type Principal, type RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { CommitResult } from "../journal/index.ts";
import type { ToolContract } from "../tool/index.ts";
import type { Agent } from "./agent.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

/** Points that calls cost, and the budgets that they are taken from. */
export interface PointsOptions {
  /** Whole points per call, by tool. Every tool that is not of level `read` must be listed; a read costs 0 by default. */
  readonly points: Readonly<Record<string, number>>;
  /**
   * The budgets that one call draws on; each must have room for it. None: a call that costs points is denied.
   *
   * A budget is shared by every run and process that names it. The limit counts at the moment of the call.
   */
  readonly of: (call: PointsCall) => readonly BudgetLimit[];
}

export interface BudgetLimit {
  readonly budget: string;
  /** Whole points, used and reserved ones included. */
  readonly limit: number;
}

export interface PointsCall {
  readonly tenant: string;
  readonly principal: Principal;
  readonly runId: string;
  readonly agent: string;
  readonly tool: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Throws BELAY_AGENT_INVALID for points that are no whole numbers, unknown tools, and tools without a price. */
export function checkPoints({ budget }: Agent, contracts: ReadonlyMap<string, ToolContract>): void {
  if (budget === undefined) return;
  const priced = Object.entries(budget.points);
  const bad =
    priced.find(([tool, cost]) => !contracts.has(tool) || !isAmount(cost))?.[0] ??
    [...contracts.values()].find(({ name, level }) => level !== "read" && !Object.hasOwn(budget.points, name))?.name;
  if (bad === undefined) return;
  throw new BelayError(
    "BELAY_AGENT_INVALID",
    `budget.points.${bad} is ${budget.points[bad]}; give whole points to each tool that is no read, and to no other name`,
  );
}

/**
 * The reservations of a call that is about to start, or the denial of one that no budget covers.
 *
 * They are committed together with what they are for, and the store refuses the whole commit when one does not fit. A
 * call that holds its points already, after a crash, reserves nothing more.
 */
export function reservePoints(context: EngineContext, session: Session, callId: string): readonly RunEvent[] {
  const { budget } = context.agent;
  const call = findCall(session.state, callId);
  if (budget === undefined || call === undefined || !context.controls.guards.has("points_budget")) return [];
  const { tool } = call.call;
  const amount = Object.hasOwn(budget.points, tool) ? (budget.points[tool] ?? 0) : 0;
  if (amount === 0 || session.state.openBudgets.some((open) => open.forCall === callId)) return [];
  const limits = limitsOf(context, session, call, budget);
  if (limits === undefined) return [denied(callId, "POLICY_ERROR", "the budgets of the call are unclear")];
  if (limits.length === 0) return [denied(callId, BUDGET_EXHAUSTED, `no budget covers ${tool}`)];
  return limits.map(({ budget: name, limit }, index) => ({
    type: "budget.reserved",
    reservationId: `${callId}/${index + 1}`,
    budget: name,
    amount,
    limit,
    forCall: callId,
  }));
}

const BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED";

/** The budgets of a call; `undefined` when the application does not say it properly. */
function limitsOf(
  context: EngineContext,
  session: Session,
  { call }: CallState,
  budget: PointsOptions,
): readonly BudgetLimit[] | undefined {
  const { tenant, principal, agent } = session.state;
  let cause: unknown;
  try {
    const { runId } = session.run;
    const limits = budget.of({
      tenant,
      principal,
      runId,
      agent: agent.name,
      tool: call.tool,
      now: context.clock.now(),
    });
    if (limits.every(({ budget: name, limit }) => typeof name === "string" && name !== "" && isAmount(limit))) {
      return limits;
    }
  } catch (error) {
    cause = error;
  }
  context.alarm({ code: "POLICY_ERROR", run: session.run, detail: `budgets of call ${call.callId}`, cause });
  return undefined;
}

/**
 * What is left of events whose commit a shared budget refused: the call that wanted the points is denied, and a model
 * call does not happen and ends the run.
 */
export function withoutRefused(
  events: readonly RunEvent[],
  refused: Extract<CommitResult, { status: "refused" }>,
): readonly RunEvent[] {
  const cause = events.find(
    (event) => event.type === "budget.reserved" && event.reservationId === refused.reservationId,
  );
  if (cause?.type !== "budget.reserved" || cause.forCall === undefined) {
    return events.flatMap((event) => withoutModelCall(event, refused.budget));
  }
  const { forCall: callId, amount, budget } = cause;
  const message = `the call costs ${amount} points and ${budget} has ${refused.available} left; it was not run`;
  return events.flatMap((event): readonly RunEvent[] => {
    if (event === cause) return [denied(callId, BUDGET_EXHAUSTED, message)];
    return event.type === "budget.reserved" && event.forCall === callId ? [] : [event];
  });
}

function withoutModelCall(event: RunEvent, budget: string): readonly RunEvent[] {
  if (event.type === "budget.reserved" && event.forCall === undefined) return [];
  if (event.type === "context.summarising") return [];
  if (event.type !== "model.requested") return [event];
  return [
    {
      type: "limit.reached",
      limit: "cost_budget",
      detail: `the shared budget ${budget} has no room for another model call`,
    },
  ];
}

function denied(callId: string, code: string, message: string): RunEvent {
  return { type: "call.settled", callId, outcome: { status: "denied", error: { code, message, retryable: false } } };
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
