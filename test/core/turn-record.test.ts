import { describe, expect, it } from "vitest";
import { effectsOf, fold, type RunEvent, type RunState } from "../../src/core/index.ts";
import {
  answered,
  asked,
  CANCEL,
  callSettled,
  callStarted,
  decided,
  entries,
  folded,
  OK,
  open,
  output,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
  UNREADABLE,
} from "./support.ts";

describe("replies of the model", () => {
  it("end the run with an answer", () => {
    const state = folded(started(), SEGMENT, REQUESTED, output({ kind: "final", text: "bye" }));
    expect([state.answer, state.ending]).toEqual(["bye", { kind: "completed" }]);
    expect(state.messages.at(-1)).toEqual({ role: "assistant", text: "bye", calls: [] });
  });

  it("may be unreadable once, and twice in a row they end it", () => {
    const once = folded(started(), SEGMENT, REQUESTED, UNREADABLE);
    expect([once.unreadableInRow, once.ending]).toEqual([1, undefined]);
    expect(once.messages.at(-1)).toEqual({ role: "harness", text: "no JSON" });
    expect(effectsOf(once)).toEqual([{ type: "call_model" }]);
    expect(folded(started(), SEGMENT, REQUESTED, UNREADABLE, REQUESTED, UNREADABLE).ending).toEqual({
      ...{ kind: "limit", limit: "unreadable_replies", detail: "2 replies in a row could not be read" },
    });
  });

  it("start the count anew once one was readable", () => {
    const read = replied(prepared("r", { effect: "read" }));
    const state = folded(started(), SEGMENT, REQUESTED, UNREADABLE, REQUESTED, read);
    expect(state.unreadableInRow).toBe(0);
  });

  it("keep what a provider wants back, and the calls as they were", () => {
    const providerData = { model: "m", data: { signed: true } };
    const calls = [prepared("a")];
    const state = folded(started(), SEGMENT, REQUESTED, output({ kind: "calls", text: "hm", calls, providerData }));
    expect(state.messages.at(-1)).toEqual({ role: "assistant", text: "hm", calls, providerData });
    expect(state.turn).toEqual([{ call: calls[0], step: 1, attempt: 0, status: "requested" }]);
    expect(Object.isFrozen(state.turn[0]?.call.args)).toBe(true);
    const plain = folded(...open(prepared("a"))).messages.at(-1);
    expect("providerData" in (plain ?? {})).toBe(false);
  });
});

describe("calls that no rule is asked about", () => {
  const refusal = (code: string) => ({ code, message: `because ${code}`, retryable: true });
  const refusals = (state: RunState) =>
    [...state.earlierCalls, ...state.turn].map(({ outcome }) =>
      outcome?.status === "refused" ? outcome.error : undefined,
    );

  it("are those over the cap of a turn", () => {
    const calls = ["a", "b", "c"].map((id) => prepared(id, { args: { id } }));
    const state = folded(started({ callsPerTurnMax: 2 }), SEGMENT, REQUESTED, replied(...calls));
    expect(refusals(state)).toEqual([
      ...[undefined, undefined],
      { code: "too_many_calls", message: "only 2 calls are run in one turn; this one was not", retryable: true },
    ]);
  });

  it("are second ones of a turn that change something, and no reads", () => {
    const same = { args: { order: 1 } };
    const state = folded(...open(prepared("a", same), prepared("b", same)));
    expect(refusals(state)[1]).toEqual({
      code: "duplicate_call",
      message: "the same call stands in this turn already as a; it is run once",
      retryable: false,
    });
    const reads = folded(
      ...open(prepared("a", { ...same, effect: "read" }), prepared("b", { ...same, effect: "read" })),
    );
    expect(refusals(reads)).toEqual([undefined, undefined]);
    // Both are one call to whoever looks for loops.
    expect([state.callKeys, reads.callKeys]).toEqual([['refund {"order":1}'], ['refund {"order":1}']]);
    expect(refusals(folded(...open(prepared("a", same), prepared("b", { ...same, tool: "cancel" }))))).toEqual([
      ...[undefined, undefined],
    ]);
  });

  it("are those that a person has rejected in this run, with the same arguments", () => {
    const rejected = [
      ...open(prepared("a", { args: { n: 1 } })),
      decided("a", "ask"),
      asked("a"),
      answered("a", "rejected"),
    ];
    const again = (change: object) => folded(...rejected, REQUESTED, replied(prepared("b", change)));
    expect(refusals(again({ args: { n: 1 } })).at(-1)).toEqual({
      code: "already_rejected",
      message: "a person has rejected this very call in this run; it is not asked again",
      retryable: false,
    });
    for (const change of [{ args: { n: 2 } }, { args: { n: 1 }, tool: "cancel" }, { args: { n: 1 }, effect: "read" }]) {
      expect(refusals(again(change)).at(-1)).toBeUndefined();
    }
  });

  it("are those that could not be read, and only those about arguments count as invalid", () => {
    const bad = (id: string, code: string) => prepared(id, { args: null, refusal: refusal(code) });
    const state = folded(
      ...open(bad("a", "invalid_arguments"), bad("b", "unknown_tool"), bad("c", "tool_not_offered")),
    );
    expect(refusals(state)).toEqual([
      refusal("invalid_arguments"),
      refusal("unknown_tool"),
      refusal("tool_not_offered"),
    ]);
    expect(state.invalidCalls).toBe(1);
    expect(folded(...open(prepared("a"))).invalidCalls).toBe(0);
  });

  it("end the turn at once when there are no others", () => {
    const state = folded(...open(prepared("a", { refusal: refusal("unknown_tool") })));
    expect([state.phase, state.turn, state.earlierCalls.length]).toEqual(["OBSERVE", [], 1]);
    expect(state.messages.at(-1)).toMatchObject({ role: "tool", callId: "a", tool: "refund" });
  });
});

describe("what becomes of a call", () => {
  const outcomeOf = (state: RunState, at = 0) => [...state.earlierCalls, ...state.turn][at]?.outcome;

  it("is told to the model in plain words", () => {
    const [denied, rejected, expired, notRun] = [
      folded(...open(prepared("a")), decided("a", "deny")),
      folded(...open(prepared("a")), decided("a", "ask"), asked("a"), answered("a", "rejected")),
      fold([
        ...entries(...open(prepared("a")), decided("a", "ask"), asked("a")),
        { at: 1000, event: { type: "approval.expired", callId: "a", approvalId: "apr_a" } },
      ]) as RunState,
      folded(...open(prepared("a")), CANCEL),
    ];
    expect(outcomeOf(denied)).toEqual({
      ...{ status: "denied", error: { code: "CODE", message: "why", retryable: false } },
    });
    expect(outcomeOf(rejected)).toEqual({
      status: "rejected",
      error: {
        ...{ code: "approval_rejected", message: "a person rejected this call; it was not run", retryable: false },
      },
    });
    expect(outcomeOf(expired)).toEqual({
      status: "expired",
      error: {
        code: "approval_expired",
        message: "nobody answered in time; the call was not run and needs a new request",
        retryable: false,
      },
    });
    expect(outcomeOf(notRun)).toEqual({
      status: "not_run",
      error: {
        code: "not_run",
        message: "the run ended before this call was run; nothing happened",
        retryable: false,
      },
    });
  });

  it("is kept with what it was started under", () => {
    const state = folded(...open(prepared("a")), decided("a", "allow"), callStarted("a"));
    expect(state.turn[0]).toMatchObject({
      ...{ status: "started", attempt: 1, idempotencyKey: "a", fence: 1, recovery: "keyed", startedAt: 5 },
    });
    const done = folded(...open(prepared("a")), decided("a", "allow"), callStarted("a"), callSettled("a"));
    expect(outcomeOf(done)).toEqual(OK);
    expect(done.messages.at(-1)).toEqual({ role: "tool", callId: "a", tool: "refund", outcome: OK });
  });

  it("pins a question to what was asked, by every code", () => {
    const decision = { verdict: "ask", code: "ONE", reason: "large", ruleId: "r", also: ["TWO"] } as const;
    const ask: RunEvent = { type: "call.decided", callId: "a", decision };
    const waiting = folded(...open(prepared("a")), ask, asked("a"));
    expect(waiting.turn[0]?.approval).toEqual({
      ...{ approvalId: "apr_a", expiresAt: 1000, requestedAt: 5, code: "ONE", codes: ["ONE", "TWO"], reason: "large" },
      ...{ argsHash: "h", contractHash: "c", policyHash: "p", revision: "1" },
    });
    const again = (change: object): RunEvent => ({ ...ask, recheck: true, ...change }) as RunEvent;
    const statusAfter = (event: RunEvent) =>
      folded(...open(prepared("a")), ask, asked("a"), answered("a", "approved"), event).turn[0]?.status;
    expect(statusAfter(again({}))).toBe("allowed");
    expect(statusAfter(again({ decision: { ...decision, also: [] } }))).toBe("allowed");
    expect(statusAfter(again({ decision: { ...decision, also: ["THREE"] } }))).toBe("asked");
    expect(statusAfter(again({ decision: { ...decision, code: "THREE" } }))).toBe("asked");
    expect(statusAfter(again({ asksAgain: true }))).toBe("asked");
  });

  it("ends the run after so many rejections, and says how many", () => {
    const no = (id: string) => [decided(id, "ask"), asked(id), answered(id, "rejected")];
    const calls = ["a", "b"].map((id) => prepared(id, { args: { id } }));
    const state = folded(started({ rejectionsMax: 2 }), SEGMENT, REQUESTED, replied(...calls), ...no("a"), ...no("b"));
    expect(state.ending).toEqual({
      kind: "limit",
      limit: "rejections",
      detail: "people have rejected 2 calls of this run",
    });
    const third = folded(started({ rejectionsMax: 3 }), SEGMENT, REQUESTED, replied(...calls), ...no("a"), ...no("b"));
    expect(third.ending).toBeUndefined();
  });

  it("goes back to the question of the policy when another worker takes over", () => {
    const next: RunEvent = {
      type: "segment.started",
      worker: "v",
      fence: 2,
      agent: { name: "a", revision: "2", policyHash: "q" },
    };
    const plain = folded(...open(prepared("a")), decided("a", "allow"), next);
    expect([plain.turn[0]?.status, plain.fence, plain.agent.revision]).toEqual(["requested", 2, "2"]);
    const asked2 = [
      decided("a", "ask"),
      asked("a"),
      answered("a", "approved"),
      decided("a", "allow", { recheck: true }),
    ];
    expect(folded(...open(prepared("a")), ...asked2, next).turn[0]?.status).toBe("approved");
    const running = folded(...open(prepared("a")), decided("a", "allow"), callStarted("a"), SEGMENT);
    expect([running.turn[0]?.status, running.agent.revision]).toEqual(["started", "1"]);
  });
});
