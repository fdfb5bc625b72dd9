import { describe, expect, it } from "vitest";
import { accepts, apply, effectsOf, type RunEvent, type RunState } from "../../src/core/index.ts";
import {
  answered,
  asked,
  callSettled,
  callStarted,
  decided,
  folded,
  OK,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
} from "./support.ts";

const reserve = (forCall?: string): RunEvent => ({
  type: "budget.reserved",
  reservationId: "r",
  budget: "b",
  amount: 3,
  limit: 9,
  ...(forCall === undefined ? {} : { forCall }),
});
const SETTLE: RunEvent = { type: "budget.settled", reservationId: "r", budget: "b", amount: 3 };
const RELEASE: RunEvent = { type: "budget.released", reservationId: "r", budget: "b" };
const TURN = [started(), SEGMENT, REQUESTED, replied(prepared("a"))];
const ALLOWED = [...TURN, decided("a", "allow")];
const FAILED = { code: "NO", message: "", retryable: false };
const budgetEffects = (state: RunState) => effectsOf(state).filter(({ type }) => type.endsWith("_budget"));
const isAccepted = (state: RunState, event: RunEvent) => accepts(state, { at: 50, event }).ok;

describe("points that a call holds", () => {
  it("are reserved only for a call that is about to start, or whose question is about to be asked", () => {
    expect(isAccepted(folded(...TURN), reserve("a"))).toBe(false);
    expect(isAccepted(folded(...ALLOWED), reserve("a"))).toBe(true);
    expect(isAccepted(folded(...ALLOWED), reserve("b"))).toBe(false);
    expect(isAccepted(folded(...TURN, decided("a", "ask")), reserve("a"))).toBe(true);
    expect(isAccepted(folded(...TURN, decided("a", "ask"), asked("a")), reserve("a"))).toBe(false);
    expect(isAccepted(folded(...ALLOWED, callStarted("a")), reserve("a"))).toBe(false);
    const cancelled = folded(...ALLOWED, { type: "run.cancel_requested", by: { kind: "person", id: "x" } });
    expect(isAccepted(cancelled, reserve("a"))).toBe(false);
  });

  it("can be neither spent nor given back while the call may still use them", () => {
    for (const state of [folded(...ALLOWED, reserve("a")), folded(...ALLOWED, reserve("a"), callStarted("a"))]) {
      expect(budgetEffects(state)).toEqual([]);
      expect([isAccepted(state, SETTLE), isAccepted(state, RELEASE)]).toEqual([false, false]);
    }
  });

  it("are given back while a person thinks", () => {
    const waiting = folded(...TURN, decided("a", "ask"), reserve("a"), asked("a"));
    expect(budgetEffects(waiting)).toEqual([{ type: "release_budget", reservationId: "r", budget: "b" }]);
    expect(isAccepted(waiting, RELEASE)).toBe(true);
    const answeredState = folded(...TURN, decided("a", "ask"), reserve("a"), asked("a"), answered("a", "rejected"));
    expect(budgetEffects(answeredState)).toEqual([{ type: "release_budget", reservationId: "r", budget: "b" }]);
  });

  it("are spent exactly when the call happened, and stay reserved while nobody knows", () => {
    const outcomes = [
      [OK, "settle_budget"],
      [{ status: "unknown", error: FAILED }, undefined],
      [{ status: "failed", error: { ...FAILED, code: "result_not_json" } }, "settle_budget"],
      [{ status: "failed", error: FAILED }, "release_budget"],
      [{ status: "world_changed", error: FAILED }, "release_budget"],
    ] as const;
    for (const [outcome, effect] of outcomes) {
      const state = folded(...ALLOWED, reserve("a"), callStarted("a"), callSettled("a", outcome));
      expect(
        budgetEffects(state).map(({ type }) => type),
        outcome.status,
      ).toEqual(effect === undefined ? [] : [effect]);
    }
  });

  it("of a call that never started are given back at the end, a model call's are charged", () => {
    const cancel: RunEvent = { type: "run.cancel_requested", by: { kind: "person", id: "x" } };
    const never = folded(...ALLOWED, reserve("a"), cancel);
    expect(effectsOf(never).map(({ type }) => type)).toEqual(["release_budget", "end_run"]);
    const model = folded(started(), SEGMENT, reserve(), REQUESTED, cancel);
    expect(effectsOf(model).map(({ type }) => type)).toEqual(["settle_budget", "end_run"]);
    const ended = apply(never, { at: 60, event: { type: "run.ended", termination: { kind: "cancelled", by: "x" } } });
    expect(ended && budgetEffects(ended).map(({ type }) => type)).toEqual(["release_budget"]);
  });
});

describe("a run of given calls", () => {
  it("ends when they have their outcomes, and asks no model", () => {
    const state = folded(
      started({}, { endsAfterTurn: true }),
      REQUESTED,
      replied(prepared("a"), prepared("b")),
      SEGMENT,
      decided("a", "deny"),
      decided("b", "allow"),
      callStarted("b"),
      callSettled("b"),
    );
    expect(effectsOf(state)).toEqual([{ type: "end_run", termination: { kind: "completed" } }]);
    const refusal = { code: "x", message: "", retryable: false };
    const refused = folded(started({}, { endsAfterTurn: true }), REQUESTED, replied(prepared("a", { refusal })));
    expect(effectsOf(refused).map(({ type }) => type)).toEqual(["end_run"]);
  });
});
