import type { RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

/** Stages the reservations of a model call in every shared budget; `cost` in nano-dollars, absent when unknown. */
export function reserveBudgets(context: EngineContext, session: Session, cost: number | undefined): void {
  // What an interrupted model call reserved is charged in full before another is made.
  for (const event of settleBudgets(session, undefined)) session.stage(event);
  for (const [budget, limit] of Object.entries(context.budgets)) {
    // A budget without a price was refused at the start; an amount of the whole limit is the safe reading.
    const amount = cost ?? limit;
    session.stage({ type: "budget.reserved", reservationId: context.newId("rsv"), budget, amount, limit });
  }
}

/** What settles the open reservations of a model call: at its cost, or in full when that is unknown. */
export function settleBudgets(session: Session, cost: number | undefined): readonly RunEvent[] {
  return session.state.openBudgets
    .filter((open) => open.forCall === undefined)
    .map(({ reservationId, budget, amount }) => ({
      type: "budget.settled",
      reservationId,
      budget,
      amount: cost ?? amount,
    }));
}
