import { describe, expect, it } from "vitest";
import {
  accepts,
  apply,
  type CallOutcome,
  callsInDoubt,
  effectsOf,
  type RunEvent,
  type RunState,
} from "../../src/core/index.ts";
import {
  callSettled,
  callStarted,
  decided,
  folded,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
} from "./support.ts";

const UNKNOWN: CallOutcome = { status: "unknown", error: { code: "outcome_unknown", message: "", retryable: false } };
const RESERVE: RunEvent = {
  type: "budget.reserved",
  reservationId: "r",
  budget: "b",
  amount: 3,
  limit: 9,
  forCall: "a",
};
const IN_DOUBT = [
  ...[started(), SEGMENT, REQUESTED, replied(prepared("a"), prepared("b")), decided("a", "allow"), RESERVE],
  ...[callStarted("a"), callSettled("a", UNKNOWN)],
];
const ENDED: RunEvent = { type: "run.ended", termination: { kind: "outcome_unknown", callId: "a" } };

function reconciled(change: object = {}): RunEvent {
  return {
    type: "call.reconciled",
    callId: "a",
    outcome: "happened",
    by: { kind: "person", id: "dana" },
    note: "seen",
    ...change,
  } as RunEvent;
}

const isAccepted = (state: RunState, event: RunEvent) => accepts(state, { at: 90, event }).ok;
const withEvent = (state: RunState, event: RunEvent) => apply(state, { at: 90, event }) as RunState;

describe("a call whose outcome nobody knows", () => {
  for (const [when, state] of [
    ["while the run is ending", folded(...IN_DOUBT)],
    ["after its end", folded(...IN_DOUBT, ENDED)],
  ] as const) {
    it(`is reconciled once, ${when}; the first word stands and the run stays as it ended`, () => {
      const first = withEvent(state, reconciled());
      const [call] = [...first.turn, ...first.earlierCalls];
      expect(call).toMatchObject({ outcome: UNKNOWN, reconciled: { outcome: "happened", note: "seen", at: 90 } });
      expect([first.ending, first.termination, first.phase]).toEqual([state.ending, state.termination, state.phase]);
      expect(callsInDoubt(first)).toEqual([]);
      for (const second of [reconciled(), reconciled({ outcome: "did_not_happen" })]) {
        expect(isAccepted(first, second)).toBe(false);
        expect(withEvent(first, second)).toBe(first);
      }
    });
  }

  it("is reconciled by a person alone, as one of two things, and only when it is in doubt", () => {
    const state = folded(...IN_DOUBT, ENDED);
    for (const kind of ["agent", "customer", "system"]) {
      expect(isAccepted(state, reconciled({ by: { kind, id: "x" } }))).toBe(false);
    }
    expect(isAccepted(state, reconciled({ outcome: "perhaps" }))).toBe(false);
    expect(isAccepted(state, reconciled({ callId: "b" }))).toBe(false);
    expect(isAccepted(state, reconciled({ callId: "none" }))).toBe(false);
    expect(isAccepted(folded(...IN_DOUBT.slice(0, -1)), reconciled())).toBe(false);
    expect(isAccepted(state, reconciled())).toBe(true);
  });

  it("keeps its points reserved over the end, until they are spent or given back", () => {
    const state = folded(...IN_DOUBT, ENDED);
    expect([effectsOf(state), state.openBudgets.length]).toEqual([[], 1]);
    expect(effectsOf(withEvent(state, reconciled())).map(({ type }) => type)).toEqual(["settle_budget"]);
    const free = withEvent(state, reconciled({ outcome: "did_not_happen" }));
    expect(effectsOf(free).map(({ type }) => type)).toEqual(["release_budget"]);
  });
});
