import { describe, expect, it } from "vitest";
import { accepts, apply, effectsOf, type RunEvent, type RunState, transition } from "../../src/core/index.ts";
import {
  answered,
  asked,
  callSettled,
  callStarted,
  decided,
  FINAL,
  folded,
  open,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
} from "./support.ts";

const statuses = (state: RunState) => [...state.earlierCalls, ...state.turn].map((call) => call.status);
const outcomes = (state: RunState) => [...state.earlierCalls, ...state.turn].map((call) => call.outcome?.status);
const refuses = (state: RunState, event: RunEvent, at = 100) => {
  const before = structuredClone(state);
  const [next, effects] = transition(state, { at, event });
  expect(next).toBe(state);
  expect(effects).toEqual([]);
  expect(state).toEqual(before);
  expect(accepts(state, { at, event }).ok).toBe(false);
};

describe("what the sketch of the core got wrong", () => {
  it("records an intent before the effect: a call settles only after it was started", () => {
    const state = folded(...open(prepared("a")), decided("a", "allow"));
    expect(effectsOf(state)).toEqual([{ type: "start_call", callId: "a" }]);
    refuses(state, callSettled("a"));
    refuses(state, callSettled("a", undefined, undefined));
  });

  it("runs a call once when its approval is delivered twice", () => {
    const waiting = folded(...open(prepared("a")), decided("a", "ask"), asked("a"));
    const approved = apply(waiting, { at: 10, event: answered("a", "approved") });
    expect(approved?.turn[0]?.status).toBe("approved");
    refuses(approved as RunState, answered("a", "approved"));
    const done = folded(
      ...open(prepared("a")),
      decided("a", "ask"),
      asked("a"),
      answered("a", "approved"),
      decided("a", "allow", { recheck: true }),
      callStarted("a"),
      callSettled("a"),
    );
    for (const event of [
      answered("a", "approved"),
      decided("a", "allow"),
      callStarted("a"),
      callStarted("a", 2),
      callSettled("a"),
    ]) {
      refuses(done, event);
    }
  });

  it("keeps a reject whatever comes after it", () => {
    const rejected = folded(...open(prepared("a")), decided("a", "ask"), asked("a"), answered("a", "rejected"));
    expect(outcomes(rejected)).toEqual(["rejected"]);
    for (const event of [
      answered("a", "approved"),
      decided("a", "allow"),
      decided("a", "allow", { recheck: true }),
      callStarted("a"),
    ]) {
      refuses(rejected, event);
    }
  });

  it("judges no changing call while an earlier one is between its decision and its end", () => {
    const turn = open(prepared("a"), prepared("b"));
    const fresh = folded(...turn);
    expect(effectsOf(fresh)).toEqual([{ type: "decide_call", callId: "a", recheck: false }]);
    refuses(fresh, decided("b", "allow"));
    refuses(folded(...turn, decided("a", "allow")), decided("b", "allow"));
    refuses(folded(...turn, decided("a", "allow"), callStarted("a")), decided("b", "allow"));
    const settled = folded(...turn, decided("a", "allow"), callStarted("a"), callSettled("a"));
    expect(effectsOf(settled)).toEqual([{ type: "decide_call", callId: "b", recheck: false }]);
  });
});

describe("a turn", () => {
  it("takes reads at once and lets a waiting call block nobody", () => {
    const state = folded(
      ...open(prepared("a"), prepared("r", { effect: "read" }), prepared("b")),
      decided("a", "ask"),
      asked("a"),
    );
    expect(
      effectsOf(state).map((effect) => ("callId" in effect ? `${effect.type} ${effect.callId}` : effect.type)),
    ).toEqual(["await_approval a", "decide_call r", "decide_call b"]);
    expect(state.phase).toBe("EXECUTE_TOOLS");
  });

  it("waits with the judgement of an approved call until the one in flight has ended", () => {
    const state = folded(
      ...open(prepared("a"), prepared("b")),
      decided("a", "ask"),
      asked("a"),
      decided("b", "allow"),
      answered("a", "approved"),
    );
    expect(effectsOf(state)).toEqual([{ type: "start_call", callId: "b" }]);
    refuses(state, decided("a", "allow", { recheck: true }));
  });

  it("answers questions in any order", () => {
    const state = folded(
      ...open(prepared("a"), prepared("b"), prepared("c")),
      ...["a", "b", "c"].flatMap((id) => [decided(id, "ask"), asked(id)]),
    );
    expect(state.phase).toBe("AWAIT_APPROVAL");
    const next = apply(state, { at: 20, event: answered("c", "approved") }) as RunState;
    expect(statuses(next)).toEqual(["waiting", "waiting", "approved"]);
    expect(effectsOf(next).map(({ type }) => type)).toEqual(["await_approval", "await_approval", "decide_call"]);
  });

  it("runs a changing call that stands twice in one turn once", () => {
    const twin = { args: { order: "A" } };
    const state = folded(...open(prepared("a", twin), prepared("b", twin), prepared("c", twin)));
    expect(statuses(state)).toEqual(["requested", "settled", "settled"]);
    expect(state.turn[1]?.outcome).toMatchObject({ status: "refused", error: { code: "duplicate_call" } });
  });

  it("refuses calls over the cap of a turn with a typed refusal (behaviour fan-out-cap)", () => {
    const many = Array.from({ length: 500 }, (_, i) => prepared(`c${i}`, { effect: "read" }));
    const state = folded(started({ callsPerTurnMax: 4 }), SEGMENT, REQUESTED, replied(...many));
    expect(state.turn.filter((call) => call.status === "requested")).toHaveLength(4);
    expect(state.turn.slice(4).every((call) => call.outcome?.status === "refused")).toBe(true);
  });

  it("gives each call exactly one result in the context, whatever ended the run", () => {
    const before = [
      ...open(prepared("a"), prepared("b"), prepared("c")),
      decided("a", "allow"),
      callStarted("a"),
      { type: "run.cancel_requested", by: { kind: "person", id: "x" } } as const,
    ];
    const ending = folded(...before);
    expect(effectsOf(ending)).toEqual([{ type: "finish_call", callId: "a" }]);
    refuses(ending, { type: "run.ended", termination: { kind: "cancelled", by: "x" } });
    const ended = folded(...before, callSettled("a"), {
      type: "run.ended",
      termination: { kind: "cancelled", by: "x" },
    });
    expect(outcomes(ended)).toEqual(["ok", "not_run", "not_run"]);
    const results = ended.messages.filter((message) => message.role === "tool");
    expect(results.map((message) => message.callId)).toEqual(["a", "b", "c"]);
    expect(effectsOf(ended)).toEqual([]);
  });
});

describe("an approval", () => {
  const waiting = folded(...open(prepared("a")), decided("a", "ask"), asked("a", 50));

  it("is answered by a person, about these arguments, in time, and by its own id", () => {
    refuses(waiting, answered("a", "approved", { by: { kind: "agent", id: "a" } }), 20);
    refuses(waiting, answered("a", "approved", { by: { kind: "customer", id: "c" } }), 20);
    refuses(waiting, answered("a", "approved", { argsHash: "other" }), 20);
    refuses(waiting, answered("a", "approved", { approvalId: "apr_b" }), 20);
    refuses(waiting, answered("a", "approved"), 50);
    expect(accepts(waiting, { at: 49, event: answered("a", "approved") }).ok).toBe(true);
  });

  it("expires at its time and not before", () => {
    const expired: RunEvent = { type: "approval.expired", callId: "a", approvalId: "apr_a" };
    refuses(waiting, expired, 49);
    const state = apply(waiting, { at: 50, event: expired }) as RunState;
    expect(outcomes(state)).toEqual(["expired"]);
  });

  it("covers the question that was asked and no other", () => {
    const approved = [...open(prepared("a")), decided("a", "ask"), asked("a"), answered("a", "approved")];
    const same = folded(...approved, decided("a", "ask", { recheck: true }));
    expect(same.turn[0]?.status).toBe("allowed");
    const other = folded(...approved, {
      type: "call.decided",
      callId: "a",
      decision: { verdict: "ask", code: "OTHER", reason: "", ruleId: "r" },
      recheck: true,
    });
    expect(other.turn[0]?.status).toBe("asked");
    const again = folded(...approved, decided("a", "ask", { recheck: true, asksAgain: true }));
    expect(again.turn[0]?.status).toBe("asked");
  });

  it("is followed by what the agent chose for reject, expiry and a changed world", () => {
    const ends = { onReject: "end_run", onExpiry: "end_run", onWorldChanged: "end_run" } as const;
    const question = [
      started({}, ends),
      SEGMENT,
      REQUESTED,
      replied(prepared("a")),
      decided("a", "ask"),
      asked("a", 50),
    ];
    expect(folded(...question, answered("a", "rejected")).ending).toEqual({
      kind: "rejected",
      approvalId: "apr_a",
      by: "dana",
    });
    const changed = folded(...question, answered("a", "approved"), decided("a", "deny", { recheck: true }));
    expect(changed.ending).toEqual({ kind: "world_changed", code: "CODE", callId: "a" });
  });
});

describe("the end of a run", () => {
  const ended = folded(started(), SEGMENT, REQUESTED, FINAL, { type: "run.ended", termination: { kind: "completed" } });

  it("is absorbing", () => {
    expect(ended).toMatchObject({ phase: "DONE", answer: "bye", termination: { kind: "completed" } });
    for (const event of [REQUESTED, FINAL, replied(prepared("z")), started(), SEGMENT, decided("a", "allow")])
      refuses(ended, event);
  });

  it("charges a model call that left no usage at its reservation", () => {
    const crashed = folded(started(), SEGMENT, REQUESTED, SEGMENT, REQUESTED);
    expect(crashed.usage).toMatchObject({
      inputTokens: 10,
      outputTokens: 10,
      costNanoUsd: 1,
      estimated: true,
      modelCalls: 2,
    });
    expect(crashed.step).toBe(2);
  });

  it("hands a queued message to the next run once", () => {
    const queue: RunEvent = {
      type: "message.queued",
      messageId: "m",
      text: "more",
      principal: { kind: "customer", id: "c" },
      nextRunId: "run_2",
    };
    const done = folded(started(), SEGMENT, queue, queue, REQUESTED, FINAL, {
      type: "run.ended",
      termination: { kind: "completed" },
    });
    expect(done.queued).toHaveLength(1);
    expect(effectsOf(done)).toEqual([{ type: "start_next_run", nextRunId: "run_2" }]);
    const followed = apply(done, { at: 100, event: { type: "run.followed", nextRunId: "run_2" } }) as RunState;
    expect(effectsOf(followed)).toEqual([]);
  });
});

describe("working time", () => {
  it("counts from a segment's start to its last entry, and neither waiting nor downtime", () => {
    const times: [number, RunEvent][] = [
      [0, started()],
      [1000, SEGMENT],
      [1010, REQUESTED],
      [1030, replied(prepared("a"))],
      [1030, decided("a", "ask")],
      [1040, asked("a", 900_000)],
      [500_000, answered("a", "approved")],
      [600_000, { type: "segment.started", worker: "w2", fence: 2 }],
      [600_005, decided("a", "allow", { recheck: true })],
    ];
    let state: RunState | undefined;
    for (const [at, event] of times) state = apply(state, { at, event });
    expect(state?.workedMs).toBe(45);
  });
});
