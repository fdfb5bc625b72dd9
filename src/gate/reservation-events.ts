import { DEFAULT_LIMITS, type Principal, type RunEvent, type RunState } from "../core/index.ts";
import type { BudgetLimit } from "../engine/index.ts";
import { BelayError } from "../errors.ts";

/** The one call of a reservation. */
const CALL_ID = "c1.1";
const NO_TOKENS = { inputTokens: 0, outputTokens: 0 };
const ENDED: RunEvent = { type: "run.ended", termination: { kind: "completed" } };

export interface ReservationFacts {
  /** Name of the account. */
  readonly name: string;
  readonly tenant: string;
  readonly runId: string;
  readonly points: number;
  readonly purpose: string;
  readonly actor: Principal;
  readonly drawn: readonly BudgetLimit[];
}

/** A run of one call that has started: its points are taken until somebody says what came of it. */
export function reservationEvents(facts: ReservationFacts): readonly RunEvent[] {
  const { name, tenant, runId, points, purpose, actor, drawn } = facts;
  const call = { callId: CALL_ID, tool: purpose, args: { points }, effect: "change" } as const;
  const reserved = drawn.map(({ budget, limit }, index): RunEvent => {
    const reservationId = `${CALL_ID}/${index + 1}`;
    return { type: "budget.reserved", reservationId, budget, amount: points, limit, forCall: CALL_ID };
  });
  return [
    {
      type: "run.started",
      agent: { name, revision: "1", policyHash: name },
      tenant,
      principal: actor,
      conversationId: runId,
      input: `${points} points for ${purpose}`,
      limits: DEFAULT_LIMITS,
      onReject: "end_run",
      onExpiry: "end_run",
      onWorldChanged: "end_run",
      endsAfterTurn: true,
    },
    { type: "model.requested", reserved: { ...NO_TOKENS, costNanoUsd: 0 } },
    { type: "model.replied", output: { kind: "calls", text: "", calls: [call] }, usage: NO_TOKENS, costNanoUsd: 0 },
    {
      type: "call.decided",
      callId: CALL_ID,
      decision: { verdict: "allow", code: "OK", reason: "the budget has room for it", ruleId: "belay.budget" },
    },
    ...(points === 0 ? [] : reserved),
    {
      type: "call.started",
      callId: CALL_ID,
      attempt: 1,
      idempotencyKey: `${tenant}/${runId}/${CALL_ID}`,
      // Whoever reserved does the work, so nothing else may try it again.
      recovery: "opaque",
      // Of no lease, by which workers know that it is not theirs.
      fence: 0,
    },
  ];
}

/** The call was made: so many of its points are spent. Throws `BELAY_BUDGET_INVALID` for more than were reserved. */
export function spentEvents(state: RunState, points: number | undefined): readonly RunEvent[] {
  const most = Math.max(0, ...state.openBudgets.map(({ amount }) => amount));
  const used = points ?? most;
  if (!Number.isSafeInteger(used) || used < 0 || used > most) {
    throw new BelayError(
      "BELAY_BUDGET_INVALID",
      `${String(used)} points cannot be settled of ${most} that were reserved.`,
    );
  }
  const settled = state.openBudgets.map(({ reservationId, budget }): RunEvent => {
    return { type: "budget.settled", reservationId, budget, amount: used };
  });
  const outcome = { status: "ok", value: { json: { points: used } } } as const;
  return [{ type: "call.settled", callId: CALL_ID, attempt: 1, outcome }, ...settled, ENDED];
}

/** The call was not made. */
export function givenBackEvents(state: RunState): readonly RunEvent[] {
  const released = state.openBudgets.map(({ reservationId, budget }): RunEvent => {
    return { type: "budget.released", reservationId, budget };
  });
  const error = { code: "refunded", message: "it was not done; its points were given back", retryable: false };
  return [
    { type: "call.settled", callId: CALL_ID, attempt: 1, outcome: { status: "failed", error } },
    ...released,
    ENDED,
  ];
}

/** What became of a reservation that is closed. */
export function closedAs(state: RunState): "settled" | "refunded" {
  return state.earlierCalls[0]?.outcome?.status === "ok" ? "settled" : "refunded";
}

export function settledPoints(state: RunState): number {
  const outcome = state.earlierCalls[0]?.outcome;
  const { points } = (outcome?.status === "ok" ? outcome.value.json : {}) as { readonly points?: number };
  return points ?? 0;
}
