import { findCall, type Principal, type RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { ToolContract } from "../tool/index.ts";
import type { Agent } from "./agent.ts";
import type { EngineContext } from "./context.ts";
import { partFor, parts } from "./parts.ts";
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
  return partFor(parts.points).pointsOf(context, session, call, budget);
}

/** Whole and not negative. */
export function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
