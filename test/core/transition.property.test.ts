import fc from "fast-check";
import { expect, it } from "vitest";
import { accepts, apply, effectsOf, fold, type RunEvent, type RunState, transition } from "../../src/core/index.ts";
import {
  answered,
  asked,
  callSettled,
  callStarted,
  decided,
  FINAL,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
} from "./support.ts";

const id = fc.constantFrom("a", "b", "c");
const call = fc
  .record({ id, effect: fc.constantFrom("read", "change") })
  .map((c) => prepared(c.id, { effect: c.effect as "read" }));

/** Any event at all, applicable or not: what a hostile or lagging writer might append. */
const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.constant(started({ stepsMax: 5 })),
  fc.constant(SEGMENT),
  fc.constant(REQUESTED),
  fc.constant(FINAL),
  fc.uniqueArray(call, { selector: (c) => c.callId, minLength: 1, maxLength: 3 }).map((c) => replied(...c)),
  fc
    .record({ id, verdict: fc.constantFrom("allow", "deny", "ask", "halt"), recheck: fc.boolean() })
    .map((e) => decided(e.id, e.verdict as "allow", e.recheck ? { recheck: true } : {})),
  fc.record({ id, at: fc.nat(200) }).map((e) => asked(e.id, e.at)),
  fc
    .record({ id, answer: fc.constantFrom("approved", "rejected"), kind: fc.constantFrom("person", "agent") })
    .map((e) => answered(e.id, e.answer as "approved", { by: { kind: e.kind, id: "x" } })),
  id.map((callId): RunEvent => ({ type: "approval.expired", callId, approvalId: `apr_${callId}` })),
  fc.record({ id, attempt: fc.integer({ min: 1, max: 3 }) }).map((e) => callStarted(e.id, e.attempt)),
  fc
    .record({ id, attempt: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }) })
    .map((e) => callSettled(e.id, undefined, e.attempt)),
  id.map((callId) => callSettled(callId, { status: "unknown", error: { code: "u", message: "", retryable: false } })),
  fc
    .record({
      callId: id,
      outcome: fc.constantFrom("happened", "did_not_happen"),
      kind: fc.constantFrom("person", "agent"),
    })
    .map(
      ({ callId, outcome, kind }): RunEvent => ({
        type: "call.reconciled",
        callId,
        outcome: outcome as "happened",
        by: { kind: kind as "person", id: "x" },
        note: "",
      }),
    ),
  fc.constant<RunEvent>({ type: "limit.reached", limit: "max_steps", detail: "" }),
  fc.constant<RunEvent>({ type: "run.cancel_requested", by: { kind: "person", id: "x" } }),
  fc.constantFrom<RunEvent>(
    { type: "run.ended", termination: { kind: "completed" } },
    { type: "run.ended", termination: { kind: "cancelled", by: "x" } },
    { type: "run.ended", termination: { kind: "limit", limit: "max_steps", detail: "" } },
  ),
  fc.constant<RunEvent>({ type: "model.failed", code: "x", detail: "" }),
  fc.constant<RunEvent>({ type: "budget.reserved", reservationId: "1", budget: "b", amount: 1, limit: 5 }),
  fc.constant<RunEvent>({ type: "budget.settled", reservationId: "1", budget: "b", amount: 1 }),
  id.map(
    (forCall): RunEvent => ({
      type: "budget.reserved",
      reservationId: forCall,
      budget: "b",
      amount: 1,
      limit: 5,
      forCall,
    }),
  ),
  id.map((reservationId): RunEvent => ({ type: "budget.released", reservationId, budget: "b" })),
  id.map((reservationId): RunEvent => ({ type: "budget.settled", reservationId, budget: "b", amount: 1 })),
);

const history = fc.array(anyEvent, { maxLength: 40 }).map((events) => [started({ stepsMax: 5 }), ...events]);

it("is total, pure and deterministic over any list of events", () => {
  fc.assert(
    fc.property(history, (events) => {
      let state: RunState | undefined;
      for (const [at, event] of events.entries()) {
        const frozen = deepFreeze(state);
        const verdict = accepts(frozen, { at, event });
        const [next, effects] = transition(frozen, { at, event });
        if (!verdict.ok) {
          expect(next).toBe(frozen);
          expect(effects).toEqual([]);
        } else {
          expect(next).not.toBe(frozen);
          expect(effects).toEqual(effectsOf(next as RunState));
        }
        state = next;
      }
      expect(fold(events.map((event, at) => ({ at, event })))).toEqual(state);
    }),
    { numRuns: 3000 },
  );
});

it("lets no changing call start without a verdict that allows it or a person's yes followed by one", () => {
  fc.assert(
    fc.property(history, (events) => {
      let state: RunState | undefined;
      const cleared = new Set<string>();
      const starts = new Map<string, number>();
      const inFlight = new Set<string>();
      for (const [at, event] of events.entries()) {
        const before = state;
        const applied = accepts(before, { at, event }).ok;
        state = apply(before, { at, event });
        if (!applied || state === undefined) continue;
        if (event.type === "model.replied") {
          cleared.clear();
          starts.clear();
        }
        if (event.type === "call.decided") {
          const isYes =
            event.decision.verdict === "allow" || (event.recheck === true && event.decision.verdict === "ask");
          if (isYes) cleared.add(event.callId);
        }
        if (event.type === "call.started") {
          expect(cleared.has(event.callId)).toBe(true);
          expect(event.attempt).toBe((starts.get(event.callId) ?? 0) + 1);
          starts.set(event.callId, event.attempt);
          inFlight.add(event.callId);
        }
        if (event.type === "call.settled") inFlight.delete(event.callId);
        const changing = state.turn.filter(
          (c) => c.call.effect === "change" && (c.status === "allowed" || c.status === "started"),
        );
        expect(changing.length).toBeLessThanOrEqual(1);
      }
    }),
    { numRuns: 3000 },
  );
});

it("never lets a settled call or an ended run change again", () => {
  fc.assert(
    fc.property(history, history, (events, more) => {
      const before = fold(events.map((event, at) => ({ at, event })));
      const after = fold(
        more.map((event, at) => ({ at: 50 + at, event })),
        before,
      );
      const settled = [...(before?.earlierCalls ?? []), ...(before?.turn ?? [])].filter((c) => c.status === "settled");
      const all = [...(after?.earlierCalls ?? []), ...(after?.turn ?? [])];
      for (const call of settled) expect(all).toContainEqual(call);
      if (before?.termination !== undefined) expect(after?.termination).toEqual(before.termination);
      if (before?.ending !== undefined) expect(after?.ending ?? after?.termination).toEqual(before.ending);
    }),
    { numRuns: 2000 },
  );
});

it("keeps the points of a call until it can no longer run, and names every other reservation to close", () => {
  fc.assert(
    fc.property(history, (events) => {
      const state = fold(events.map((event, at) => ({ at, event })));
      for (const open of state?.openBudgets ?? []) {
        if (open.forCall === undefined || state === undefined) continue;
        const call = [...state.turn, ...state.earlierCalls].find((c) => c.call.callId === open.forCall);
        const mayRun = call?.status === "allowed" || call?.status === "started";
        const closing = effectsOf(state).filter((e) => "reservationId" in e && e.reservationId === open.reservationId);
        expect(closing).toHaveLength(mayRun ? 0 : 1);
      }
    }),
    { numRuns: 3000 },
  );
});

it("never throws for what no code of ours could have written", () => {
  const junk = fc
    .record({ type: fc.constantFrom("run.started", "call.decided", "model.replied", "later.event", "call.settled") })
    .chain((base) =>
      fc
        .dictionary(fc.constantFrom("callId", "decision", "output", "outcome", "limits"), fc.jsonValue())
        .map((rest) => ({ ...rest, ...base })),
    );
  fc.assert(
    fc.property(history, fc.array(junk, { maxLength: 5 }), (events, bad) => {
      const state = fold(events.map((event, at) => ({ at, event })));
      for (const event of bad)
        expect(() => transition(state, { at: 1, event: event as unknown as RunEvent })).not.toThrow();
    }),
    { numRuns: 1000 },
  );
});

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
