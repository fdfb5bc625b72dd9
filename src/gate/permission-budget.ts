import type { BudgetLimit, PointsCall } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { Store } from "../journal/index.ts";

/** How many points there are, and for whom; each in whole points, and each that is given must have room for a call. */
export interface PermissionBudgetOptions {
  /** Name in the store; budgets of the same name are one budget, in every run and process. Default `points`. */
  readonly name?: string;
  /** For everybody together and for all time. */
  readonly total?: number;
  readonly perRun?: number;
  /** For each principal on whose behalf runs work. */
  readonly perPerson?: number;
  readonly perAgent?: number;
  /** For everybody together on each day of UTC. */
  readonly perDay?: number;
}

export interface PermissionBudget {
  /** For an agent: `budget: { points, of: budget.of }`. */
  readonly of: (call: PointsCall) => readonly BudgetLimit[];
  /** What each budget of a call has left, never below 0 and never above its limit; reserved points are not left. */
  remaining(store: Store, call: PointsCall): Promise<readonly RemainingPoints[]>;
}

export interface RemainingPoints extends BudgetLimit {
  readonly used: number;
  readonly reserved: number;
  readonly remaining: number;
}

/**
 * A permission budget: points that calls cost, shared by all runs and processes over one store.
 *
 * It holds no number itself. What is used follows from the journal, so it cannot drift, and a balance that was lost is
 * derived again. Throws `BELAY_BUDGET_INVALID` for a limit that is no whole number from 0, and when there is none.
 */
export function permissionBudget(options: PermissionBudgetOptions): PermissionBudget {
  const { name = "points", ...limits } = options;
  checkOptions(name, limits);
  const { total, perRun, perPerson, perAgent, perDay } = options;
  const of = (call: PointsCall): readonly BudgetLimit[] => {
    const { kind, id } = call.principal;
    const drawn: BudgetLimit[] = [];
    if (total !== undefined) drawn.push({ budget: name, limit: total });
    if (perRun !== undefined) drawn.push({ budget: `${name}:run:${call.runId}`, limit: perRun });
    if (perPerson !== undefined) drawn.push({ budget: `${name}:person:${kind}:${id}`, limit: perPerson });
    if (perAgent !== undefined) drawn.push({ budget: `${name}:agent:${call.agent}`, limit: perAgent });
    if (perDay !== undefined) {
      drawn.push({ budget: `${name}:day:${new Date(call.now).toISOString().slice(0, 10)}`, limit: perDay });
    }
    return drawn;
  };
  return {
    of,
    remaining: (store, call) =>
      Promise.all(
        of(call).map(async ({ budget, limit: most }) => {
          const { used, reserved } = await store.budget(call.tenant, budget);
          return { budget, limit: most, used, reserved, remaining: Math.max(0, most - used - reserved) };
        }),
      ),
  };
}

function checkOptions(name: string, limits: Omit<PermissionBudgetOptions, "name">): void {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  const bad = given.find(([, value]) => !Number.isSafeInteger(value) || Number(value) < 0);
  if (bad !== undefined) {
    throw new BelayError(
      "BELAY_BUDGET_INVALID",
      `The budget ${name} has the ${bad[0]} ${String(bad[1])}. Use a whole number of points from 0.`,
    );
  }
  if (given.length === 0 || name === "") {
    throw new BelayError(
      "BELAY_BUDGET_INVALID",
      "The budget has no limit or no name. Give it a total, or a limit per run, person, agent or day.",
    );
  }
}
