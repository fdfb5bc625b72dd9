import { describe, expect, it } from "vitest";
import { accepts, type CallOutcome, type RunEvent, type RunState } from "../../src/core/index.ts";
import {
  answered,
  asked,
  callSettled,
  callStarted,
  decided,
  FINAL,
  folded,
  OK,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
} from "./support.ts";

const reason = (state: RunState | undefined, event: RunEvent, at = 100): string | undefined => {
  const found = accepts(state, { at, event });
  return found.ok ? undefined : found.reason;
};
const begun = folded(started(), SEGMENT);
const turn = (...more: readonly RunEvent[]) =>
  folded(
    started(),
    SEGMENT,
    REQUESTED,
    replied(prepared("a"), prepared("b"), prepared("r", { effect: "read" })),
    ...more,
  );
const requested = turn();
const allowed = turn(decided("a", "allow"));
const running = turn(decided("a", "allow"), callStarted("a"));
const askedFor = turn(decided("a", "ask"));
const waiting = turn(decided("a", "ask"), asked("a"));
const approved = turn(decided("a", "ask"), asked("a"), answered("a", "approved"));
const CANCEL: RunEvent = { type: "run.cancel_requested", by: { kind: "person", id: "x" } };
const cancelled = turn(decided("a", "allow"), callStarted("a"), CANCEL);
const CANCELLED: RunEvent = { type: "run.ended", termination: { kind: "cancelled", by: "x" } };
const ended = folded(started(), SEGMENT, CANCEL, CANCELLED);
const FAILED: RunEvent = { type: "model.failed", code: "x", detail: "" };
const COMPACTED: RunEvent = { type: "context.compacted", tokensBefore: 2, tokensAfter: 1, summaries: [] };
const SUMMARISING: RunEvent = { type: "context.summarising", reserved: { inputTokens: 1, outputTokens: 1 } };
const REACHED: RunEvent = { type: "limit.reached", limit: "max_steps", detail: "" };
const FOLLOWED: RunEvent = { type: "run.followed", nextRunId: "run_2" };
const QUEUED: RunEvent = {
  type: "message.queued",
  messageId: "m1",
  text: "more",
  principal: { kind: "customer", id: "c" },
  nextRunId: "run_2",
};
const EXPIRED: RunEvent = { type: "approval.expired", callId: "a", approvalId: "apr_a" };
const reserve = (forCall?: string, id = "r1"): RunEvent => ({
  type: "budget.reserved",
  ...{ reservationId: id, budget: "points", amount: 5, limit: 10 },
  ...(forCall === undefined ? {} : { forCall }),
});
const SPENT: RunEvent = { type: "budget.settled", reservationId: "r1", budget: "points", amount: 5 };
const RELEASED: RunEvent = { type: "budget.released", reservationId: "r1", budget: "points" };
const DENIED = { status: "denied", error: { code: "NO", message: "", retryable: false } } as const;
const UNKNOWN = { status: "unknown", error: { code: "u", message: "", retryable: false } } as const;
/** An outcome that does not say of which attempt. */
const unstarted = (callId: string, outcome: CallOutcome = OK): RunEvent => ({ type: "call.settled", callId, outcome });
const found = (change: object = {}): RunEvent =>
  ({
    ...{ type: "call.reconciled", callId: "a", outcome: "happened", by: { kind: "person", id: "x" }, note: "" },
    ...change,
  }) as RunEvent;
const doubtful = turn(decided("a", "allow"), callStarted("a"), callSettled("a", UNKNOWN));

describe("why an event is refused", () => {
  it.each<[string, RunState | undefined, RunEvent, string | undefined]>([
    ["nothing before the start", undefined, SEGMENT, "the run has not started"],
    ["the start", undefined, started(), undefined],
    ["a second start", begun, started(), "the run has started already"],
    ["what follows a run that goes on", begun, FOLLOWED, "the run has not ended"],
    [
      "a segment of an older lease",
      folded(started(), { ...SEGMENT, fence: 5 } as RunEvent),
      { ...SEGMENT, fence: 4 } as RunEvent,
      "an older lease",
    ],
    ["a segment of the same lease", begun, SEGMENT, undefined],
    ["an end out of nothing", begun, CANCELLED, "nothing ends the run"],
    ["a limit", begun, REACHED, undefined],
    ["a limit of a run that ends anyway", cancelled, REACHED, "the run is ending"],
    ["a second cancellation", cancelled, CANCEL, "the run is ending"],
    [
      "an end for another reason",
      cancelled,
      { type: "run.ended", termination: { kind: "completed" } },
      "the run ends for another reason",
    ],
    ["an end while a call runs", cancelled, CANCELLED, "a call is still running"],
    ["a message", begun, QUEUED, undefined],
    ["a message twice", folded(started(), SEGMENT, QUEUED), QUEUED, "queued already"],
    ["another message", folded(started(), SEGMENT, QUEUED), { ...QUEUED, messageId: "m2" } as RunEvent, undefined],
    ["anything after the end", ended, SEGMENT, "the run has ended"],
    ["a follower without a message", ended, FOLLOWED, "nothing follows the run"],
    ["a follower", folded(started(), SEGMENT, QUEUED, CANCEL, CANCELLED), FOLLOWED, undefined],
    [
      "a second follower",
      folded(started(), SEGMENT, QUEUED, CANCEL, CANCELLED, FOLLOWED),
      FOLLOWED,
      "nothing follows the run",
    ],
  ])("%s", (_, state, event, expected) => {
    expect(reason(state, event)).toBe(expected);
  });

  it.each<[string, RunState, RunEvent, string | undefined]>([
    ["a reply to nothing", begun, FINAL, "no model call is open"],
    ["a failure of nothing", begun, FAILED, "no model call is open"],
    [
      "a reply to another step",
      folded(started(), SEGMENT, REQUESTED),
      { ...FINAL, step: 2 } as RunEvent,
      "a reply to another request",
    ],
    [
      "a failure of another step",
      folded(started(), SEGMENT, REQUESTED),
      { ...FAILED, step: 0 } as RunEvent,
      "a reply to another request",
    ],
    ["a reply to this step", folded(started(), SEGMENT, REQUESTED), { ...FINAL, step: 1 } as RunEvent, undefined],
    ["a reply that does not say to which", folded(started(), SEGMENT, REQUESTED), FINAL, undefined],
    ["a model call while calls are open", requested, REQUESTED, "calls of the turn are not settled"],
    ["a summary while calls are open", requested, SUMMARISING, "calls of the turn are not settled"],
    ["a compaction while calls are open", requested, COMPACTED, "calls of the turn are not settled"],
    ["a model call of a run that ends", cancelled, REQUESTED, "the run is ending"],
    ["a compaction of a run that ends", cancelled, COMPACTED, "the run is ending"],
    ["a compaction", begun, COMPACTED, undefined],
  ])("%s", (_, state, event, expected) => {
    expect(reason(state, event)).toBe(expected);
  });

  it.each<[string, RunState, RunEvent, string | undefined]>([
    ["a decision about no call", requested, decided("z", "allow"), "no call z in this turn"],
    ["a decision", requested, decided("a", "allow"), undefined],
    ["a decision twice", allowed, decided("a", "allow"), "call a is allowed, not requested"],
    [
      "a second look at what nobody approved",
      requested,
      decided("a", "allow", { recheck: true }),
      "call a is requested, not approved",
    ],
    ["a first look at what was approved", approved, decided("a", "allow"), "call a is approved, not requested"],
    ["a second look", approved, decided("a", "allow", { recheck: true }), undefined],
    ["a decision before its turn", requested, decided("b", "allow"), "an earlier changing call comes first"],
    ["a read, whatever comes before", running, decided("r", "allow"), undefined],
    ["a question about what needs none", allowed, asked("a"), "nobody has to be asked"],
    ["a question", askedFor, asked("a", 101), undefined],
    ["a question that is over before it is asked", askedFor, asked("a", 100), "the question would be expired"],
    ["an answer to no question", askedFor, answered("a", "approved"), "no such open question"],
    [
      "an answer to another question",
      waiting,
      answered("a", "approved", { approvalId: "apr_z" }),
      "no such open question",
    ],
    [
      "an answer by an agent",
      waiting,
      answered("a", "approved", { by: { kind: "agent", id: "x" } }),
      "only a person answers",
    ],
    [
      "an answer about other arguments",
      waiting,
      answered("a", "approved", { argsHash: "z" }),
      "the answer is about other arguments",
    ],
    ["an expiry too early", waiting, EXPIRED, "the question is still open"],
    ["an expiry of another question", waiting, { ...EXPIRED, approvalId: "z" } as RunEvent, "no such open question"],
    ["an expiry of no question", askedFor, EXPIRED, "no such open question"],
    ["a start under another lease", allowed, callStarted("a", 1, 2), "an older lease"],
    ["a start out of order", allowed, callStarted("a", 2), "attempt 2 after 0"],
    ["a start of what nobody allowed", requested, callStarted("a"), "call a is requested"],
    ["a start", allowed, callStarted("a"), undefined],
    ["a second attempt", running, callStarted("a", 2), undefined],
    ["an outcome of another attempt", running, callSettled("a", undefined, 2), "another attempt"],
    ["an outcome of what has not started", allowed, callSettled("a"), "another attempt"],
    ["an outcome without its attempt", running, unstarted("a", DENIED), "a started call settles with its attempt"],
    ["a success without a start", allowed, unstarted("a"), "a success without a start"],
    ["a success of a read that nobody allowed", requested, unstarted("r"), "a success without a start"],
    ["a success of a read", turn(decided("r", "allow")), unstarted("r"), undefined],
    ["a failure before the start", allowed, unstarted("a", DENIED), undefined],
    ["anything about what is settled", turn(decided("a", "deny")), callStarted("a"), "call a is settled"],
    ["a decision while the run ends", cancelled, decided("r", "allow"), "call r is settled"],
    ["another attempt while the run ends", cancelled, callStarted("a", 2), undefined],
    ["a later attempt while the run ends", cancelled, callStarted("a", 3), "the run is ending"],
    ["a question while the run ends", cancelled, asked("a"), "the run is ending"],
  ])("%s", (_, state, event, expected) => {
    expect(reason(state, event)).toBe(expected);
  });

  it("an answer at the moment of the expiry comes too late, and the expiry is due", () => {
    expect(reason(waiting, answered("a", "approved"), 999)).toBeUndefined();
    expect(reason(waiting, answered("a", "approved"), 1000)).toBe("the question has expired");
    expect(reason(waiting, EXPIRED, 999)).toBe("the question is still open");
    expect(reason(waiting, EXPIRED, 1000)).toBeUndefined();
  });

  it("nothing about a late observation, wherever the run is", () => {
    const late: RunEvent = { type: "call.outcome_observed", callId: "z", attempt: 1, outcome: DENIED, differs: true };
    for (const state of [begun, requested, cancelled, ended]) {
      expect(reason(state, late)).toBeUndefined();
    }
  });

  it.each<[string, RunState, RunEvent, string | undefined]>([
    ["by an agent", doubtful, found({ by: { kind: "agent", id: "x" } }), "only a person says what became of a call"],
    ["with another word", doubtful, found({ outcome: "perhaps" }), "no such outcome"],
    ["of a call that is known", turn(decided("a", "deny")), found(), "the outcome of call a is not in doubt"],
    ["of another call", doubtful, found({ callId: "b" }), "the outcome of call b is not in doubt"],
    ["that it happened", doubtful, found(), undefined],
    ["that it did not", doubtful, found({ outcome: "did_not_happen" }), undefined],
  ])("a finding %s", (_, state, event, expected) => {
    expect(reason(state, event)).toBe(expected);
  });

  it.each<[string, RunState, RunEvent, string | undefined]>([
    ["spending of nothing", begun, SPENT, "no such reservation"],
    ["release of nothing", begun, RELEASED, "no such reservation"],
    ["a reservation", begun, reserve(), undefined],
    ["a reservation twice", folded(started(), SEGMENT, reserve()), reserve(), "reserved already"],
    ["another reservation", folded(started(), SEGMENT, reserve()), reserve(undefined, "r2"), undefined],
    ["spending of a model call's", folded(started(), SEGMENT, reserve()), SPENT, undefined],
    ["a reservation for no call", begun, reserve("z"), "call z is undefined"],
    ["a reservation for what nobody allowed", requested, reserve("a"), "call a is requested"],
    ["a reservation for what is allowed", allowed, reserve("a"), undefined],
    ["a reservation before a question", askedFor, reserve("a"), undefined],
    ["a reservation for what runs", running, reserve("a"), "call a is started"],
    ["a reservation while the run ends", cancelled, reserve("a"), "the run is ending"],
    ["spending for what is about to run", turn(decided("a", "allow"), reserve("a")), SPENT, "a call is still running"],
    [
      "release for what runs",
      turn(decided("a", "allow"), reserve("a"), callStarted("a")),
      RELEASED,
      "a call is still running",
    ],
    [
      "release of what is in doubt",
      turn(decided("a", "allow"), reserve("a"), callStarted("a"), callSettled("a", UNKNOWN)),
      RELEASED,
      "nobody knows whether the call happened",
    ],
    [
      "spending of what has happened",
      turn(decided("a", "allow"), reserve("a"), callStarted("a"), callSettled("a")),
      SPENT,
      undefined,
    ],
  ])("%s", (_, state, event, expected) => {
    expect(reason(state, event)).toBe(expected);
  });

  it("budgets are closed after the end too, once", () => {
    const open = folded(started(), SEGMENT, reserve(), CANCEL, CANCELLED);
    expect(reason(open, SPENT)).toBeUndefined();
    expect(reason(open, RELEASED)).toBeUndefined();
    expect(reason(ended, SPENT)).toBe("no such reservation");
    expect(reason(open, reserve(undefined, "r2"))).toBe("the run has ended");
  });
});
