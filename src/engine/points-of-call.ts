import type { CallState, RunEvent } from "../core/index.ts";
import type { CommitResult } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import type { BudgetLimit, PointsOptions } from "./points.ts";
import type { Session } from "./session.ts";

/** What `reservePoints` does for a call of an agent with points. */
export function pointsOf(
  context: EngineContext,
  session: Session,
  call: CallState,
  budget: PointsOptions,
): readonly RunEvent[] {
  const { callId, tool } = call.call;
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
    if (
      limits.every(({ budget: name, limit }) => typeof name === "string" && name !== "" && context.kit.isAmount(limit))
    ) {
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
