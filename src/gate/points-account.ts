import { type Clock, systemClock } from "../clock.ts";
import { accepts, apply, type Entry, fold, type Principal, type RunEvent, type RunState } from "../core/index.ts";
import type { PointsCall } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import { newId } from "../ids.ts";
import { ACCOUNT_SUFFIX, type RunKey, type Store } from "../journal/index.ts";
import {
  type PermissionBudget,
  type PermissionBudgetOptions,
  permissionBudget,
  type RemainingPoints,
} from "./permission-budget.ts";
import { closedAs, givenBackEvents, reservationEvents, settledPoints, spentEvents } from "./reservation-events.ts";

export interface BudgetOptions extends PermissionBudgetOptions {
  /** Every process over one store shares the budget. */
  readonly store: Store;
  readonly tenant?: string;
  readonly clock?: Clock;
}

export interface PointsRequest {
  /** Whole points from 0. */
  readonly points: number;
  /** What they are for, in one word: `export`. It stands in the audit log, and a budget per run or agent knows it. */
  readonly purpose: string;
  readonly actor: Principal;
  /** Names the reservation: the same name again gives the first one, and its points are taken once. */
  readonly id?: string;
}

export type Reserved =
  | { readonly status: "reserved"; readonly id: string }
  /** Nothing was taken: this budget has no room for it. */
  | { readonly status: "exhausted"; readonly budget: string; readonly available: number };

export type Closed =
  | { readonly status: "settled"; readonly points: number }
  | { readonly status: "refunded" }
  /** It was closed before, and stays as it was. */
  | { readonly status: "closed_before"; readonly as: "settled" | "refunded" };

/** A permission budget without agent and gate: reserve before, settle or refund after. */
export interface Budget extends PermissionBudget {
  /** Takes points before something is done, from every limit that counts for it, or from none. */
  reserve(request: PointsRequest): Promise<Reserved>;
  /** It was done: the points, or as few as it really took, are spent. */
  settle(id: string, points?: number): Promise<Closed>;
  /** It was not done: every point goes back. */
  refund(id: string): Promise<Closed>;
  /** What each limit has left for this request. */
  left(request: Omit<PointsRequest, "points">): Promise<readonly RemainingPoints[]>;
}

/**
 * A permission budget of its own, over a store.
 *
 * A reservation is a run of one call in the journal, so it is audited, survives the process, and what is spent follows
 * from the journal and cannot drift. One that nobody closes keeps its points: after a crash the application settles or
 * refunds it by its id. Throws what `permissionBudget` throws, and `BELAY_BUDGET_INVALID` for bad points and an unknown id.
 */
export function createBudget(options: BudgetOptions): Budget {
  const { store, tenant = "default", clock = systemClock, ...limits } = options;
  const budget = permissionBudget(limits);
  const name = `${limits.name ?? "points"}${ACCOUNT_SUFFIX}`;
  const callOf = (request: Omit<PointsRequest, "points">, runId: string): PointsCall => {
    const { actor: principal, purpose: tool } = request;
    return { tenant, principal, runId, agent: name, tool, now: clock.now() };
  };
  const close = async (id: string, closing: (state: RunState) => readonly RunEvent[]): Promise<RunState> =>
    append({ store, clock, name }, { tenant, runId: id }, closing);
  return {
    ...budget,
    async reserve(request) {
      checkRequest(request);
      const id = request.id ?? newId("rsv", clock.now());
      const drawn = budget.of(callOf(request, id));
      const at = clock.now();
      const events = reservationEvents({ ...request, name, tenant, runId: id, drawn });
      const entries = events.map((event): Entry => ({ at, event }));
      const result = await store.commit({ run: { tenant, runId: id }, head: 0, entries });
      if (result.status === "refused") {
        return { status: "exhausted", budget: result.budget, available: result.available };
      }
      if (result.status === "conflict") await checkSame(store, { tenant, runId: id }, entries[0]?.event);
      return { status: "reserved", id };
    },
    async settle(id, points) {
      const [before, after] = await closeOnce(close, id, (state) => spentEvents(state, points));
      return before ?? { status: "settled", points: settledPoints(after) };
    },
    async refund(id) {
      const [before] = await closeOnce(close, id, givenBackEvents);
      return before ?? { status: "refunded" };
    },
    left: (request) => budget.remaining(store, callOf(request, request.id ?? "new")),
  };
}

function checkRequest({ points, purpose }: PointsRequest): void {
  if (Number.isSafeInteger(points) && points >= 0 && /^[\w.-]{1,64}$/.test(purpose)) return;
  throw new BelayError(
    "BELAY_BUDGET_INVALID",
    `A reservation of ${String(points)} points for ${JSON.stringify(String(purpose).slice(0, 64))} cannot be made. Give ` +
      "whole points from 0 and a purpose of up to 64 of A-Z a-z 0-9 _ . -",
  );
}

async function closeOnce(
  close: (id: string, closing: (state: RunState) => readonly RunEvent[]) => Promise<RunState>,
  id: string,
  closing: (state: RunState) => readonly RunEvent[],
): Promise<readonly [before: Closed | undefined, after: RunState]> {
  let before: Closed | undefined;
  const after = await close(id, (state) => {
    before = state.termination === undefined ? undefined : { status: "closed_before", as: closedAs(state) };
    return before === undefined ? closing(state) : [];
  });
  return [before, after];
}

interface Account {
  readonly store: Store;
  readonly clock: Clock;
  readonly name: string;
}

/** Appends what closes a reservation, by compare-and-set: of two closings at once the first one stands. */
async function append(
  { store, clock, name }: Account,
  run: RunKey,
  closing: (state: RunState) => readonly RunEvent[],
): Promise<RunState> {
  for (;;) {
    const stored = await store.read(run);
    const state = fold(stored);
    if (state?.agent.name !== name) throw unknownReservation(run.runId);
    const at = Math.max(clock.now(), state.lastAt);
    const entries = closing(state).map((event): Entry => ({ at, event }));
    if (entries.length === 0) return state;
    const closed = foldOn(state, entries);
    const result = await store.commit({ run, head: stored.length, entries });
    if (result.status === "committed") return closed;
  }
}

function foldOn(state: RunState, entries: readonly Entry[]): RunState {
  return entries.reduce((before, entry) => {
    const verdict = accepts(before, entry);
    if (!verdict.ok) throw new BelayError("BELAY_INTERNAL", `a reservation cannot be closed: ${verdict.reason}`);
    return apply(before, entry) ?? before;
  }, state);
}

async function checkSame(store: Store, run: RunKey, wanted: RunEvent | undefined): Promise<void> {
  const first = (await store.read(run))[0]?.event;
  const isSame =
    first?.type === "run.started" &&
    wanted?.type === "run.started" &&
    first.input === wanted.input &&
    first.agent.name === wanted.agent.name &&
    first.principal.kind === wanted.principal.kind &&
    first.principal.id === wanted.principal.id;
  if (isSame) return;
  throw new BelayError("BELAY_RUN_EXISTS", `run ${run.runId} exists and is another one; choose another id`);
}

function unknownReservation(id: string): BelayError {
  return new BelayError(
    "BELAY_BUDGET_INVALID",
    `There is no reservation ${JSON.stringify(String(id).slice(0, 80))} of this budget. Pass the id that reserve() gave.`,
  );
}
