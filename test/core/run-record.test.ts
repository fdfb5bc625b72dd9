import { describe, expect, it } from "vitest";
import { apply, effectsOf, fold, type RunEvent, type RunState, terminationCode } from "../../src/core/index.ts";
import {
  answered,
  asked,
  CANCEL,
  decided,
  entries,
  FINAL,
  folded,
  open,
  output,
  prepared,
  REQUESTED,
  replied,
  SEGMENT,
  started,
  UNREADABLE,
} from "./support.ts";

const rows = ({ phaseChanges }: RunState) => phaseChanges.map(({ from, to, reason }) => `${from} ${to}: ${reason}`);

describe("a run that has started", () => {
  it("has nothing behind it", () => {
    expect(fold([{ at: 42, event: started() }])).toMatchObject({
      agent: { name: "a", revision: "1", policyHash: "p" },
      ...{ tenant: "default", principal: { kind: "customer", id: "c" }, conversationId: "cnv", input: "hello" },
      ...{ memory: [], limits: (started() as Extract<RunEvent, { type: "run.started" }>).limits },
      ...{ onReject: "tell_model", onExpiry: "tell_model", onWorldChanged: "tell_model" },
      ...{ phase: "PLAN", step: 0, phaseChanges: [], messages: [{ role: "user", text: "hello" }] },
      ...{ turn: [], earlierCalls: [], callKeys: [], invalidCalls: 0, unreadableInRow: 0 },
      usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, costNanoUsd: 0, costUnknown: false, estimated: false },
      ...{ openBudgets: [], compactions: [], summaries: {}, workedMs: 0, fence: 0, lastAt: 42, queued: [] },
    });
  });

  it("keeps what it was started with", () => {
    const change = { offeredTools: ["refund"], memory: [{ user: "u", assistant: "a" }], endsAfterTurn: true } as const;
    expect(fold([{ at: 0, event: started({}, change) }])).toMatchObject(change);
    const { offeredTools: _, ...plain } = change;
    expect("offeredTools" in (fold([{ at: 0, event: started({}, plain) }]) ?? {})).toBe(false);
  });

  it("is no run without its start, whatever was written", () => {
    expect(fold(entries(SEGMENT, REQUESTED))).toBeUndefined();
  });

  it("goes on from a state that was folded before", () => {
    const all = entries(...open(prepared("a")), decided("a", "allow"));
    expect(fold(all.slice(3), fold(all.slice(0, 3)))).toEqual(fold(all));
  });

  it("survives an event that no code could have written", () => {
    const state = folded(started(), SEGMENT, REQUESTED);
    const broken = { at: 5, event: { type: "model.replied", output: { kind: "calls", calls: 5 } } } as never;
    expect(apply(state, broken)).toBe(state);
    expect(apply(state, { at: 5, event: { type: "from.the.future" } as never })).toMatchObject({ phase: state.phase });
  });
});

describe("the transition log", () => {
  it("has a row for each change of phase, with its reason and step", () => {
    const state = folded(
      ...open(prepared("a"), prepared("b")),
      decided("a", "ask"),
      asked("a"),
      decided("b", "ask"),
      asked("b"),
      answered("a", "rejected"),
      answered("b", "rejected"),
      REQUESTED,
      FINAL,
      { type: "run.ended", termination: { kind: "completed" } },
    );
    expect(rows(state)).toEqual([
      "PLAN CALL_MODEL: start",
      "CALL_MODEL EXECUTE_TOOLS: 2 tool call(s)",
      "EXECUTE_TOOLS AWAIT_APPROVAL: 2 approval(s) pending",
      "AWAIT_APPROVAL EXECUTE_TOOLS: approval settled",
      "EXECUTE_TOOLS OBSERVE: tool results appended",
      "OBSERVE CALL_MODEL: observe → call model",
      "CALL_MODEL DONE: stop_reason:end_turn",
    ]);
    expect(state.phaseChanges.map(({ step }) => step)).toEqual([0, 1, 1, 1, 1, 1, 2]);
  });

  it.each<[readonly RunEvent[], string]>([
    [[{ type: "limit.reached", limit: "wall_clock", detail: "late" }], "PLAN FAILED: guard:wall_clock"],
    [[CANCEL], "PLAN FAILED: cancelled"],
    [[REQUESTED, { type: "model.failed", code: "down", detail: "no" }], "CALL_MODEL FAILED: model_error"],
    [[REQUESTED, replied(prepared("a")), decided("a", "halt")], "EXECUTE_TOOLS FAILED: halted:CODE"],
  ])("tells how it ended", (events, row) => {
    const ending = folded(started(), SEGMENT, ...events);
    const termination = ending.ending as NonNullable<RunState["ending"]>;
    const state = apply(ending, { at: 50, event: { type: "run.ended", termination } });
    expect(rows(state as RunState).at(-1)).toBe(row);
    expect(state?.termination).toEqual(termination);
    expect([state?.ending, state?.openRequest]).toEqual([undefined, undefined]);
  });

  it("is not waiting while anything else of the turn can run", () => {
    const half = folded(...open(prepared("a"), prepared("b")), decided("a", "ask"), asked("a"));
    expect(half.phase).toBe("EXECUTE_TOOLS");
    expect(folded(...open(prepared("a")), decided("a", "ask")).phase).toBe("EXECUTE_TOOLS");
    expect(folded(...open(prepared("a")), decided("a", "ask"), asked("a")).phase).toBe("AWAIT_APPROVAL");
  });
});

describe("what a run has used", () => {
  it("adds up what providers say", () => {
    const state = folded(started(), SEGMENT, REQUESTED, UNREADABLE, REQUESTED, output({ kind: "final", text: "bye" }));
    expect(state.usage).toEqual({
      ...{ modelCalls: 2, inputTokens: 14, outputTokens: 6, costNanoUsd: 22, costUnknown: false, estimated: false },
    });
    expect(state.openRequest).toBeUndefined();
  });

  it("remembers that something was unknown or estimated, whatever comes after", () => {
    const unpriced = output({ kind: "unreadable", problem: "x" }, { costNanoUsd: undefined });
    const guessed = output(
      { kind: "final", text: "" },
      { usage: { inputTokens: 1, outputTokens: 1, estimated: true } },
    );
    const first = folded(started({ unreadableRepliesMax: 9 }), SEGMENT, REQUESTED, unpriced, REQUESTED, UNREADABLE);
    expect(first.usage).toMatchObject({ costUnknown: true, costNanoUsd: 11, estimated: false });
    const second = folded(started({ unreadableRepliesMax: 9 }), SEGMENT, REQUESTED, guessed);
    expect(second.usage).toMatchObject({ costUnknown: false, estimated: true });
  });

  it.each<[string, RunEvent]>([
    ["a second request", REQUESTED],
    ["a failure", { type: "model.failed", code: "down", detail: "" }],
    ["a summary", { type: "context.summarising", reserved: { inputTokens: 3, outputTokens: 3 } }],
  ])("charges an open call at its reservation with %s", (_, event) => {
    const state = folded(started(), SEGMENT, REQUESTED, event);
    expect(state.usage).toMatchObject({ inputTokens: 10, outputTokens: 10, costNanoUsd: 1, estimated: true });
  });

  it("charges a call that was open when the run ended, and knows when its price was none", () => {
    const unpriced: RunEvent = { type: "model.requested", reserved: { inputTokens: 4, outputTokens: 5 } };
    const cancelled = { type: "run.ended", termination: { kind: "cancelled", by: "pat" } } as const;
    const state = folded(started(), SEGMENT, unpriced, CANCEL, cancelled);
    expect(state.usage).toEqual({
      ...{ modelCalls: 1, inputTokens: 4, outputTokens: 5, costNanoUsd: 0, costUnknown: true, estimated: true },
    });
  });

  it("pays for a reply that comes while the run ends, and takes nothing else of it", () => {
    const state = folded(started(), SEGMENT, REQUESTED, CANCEL, output({ kind: "final", text: "bye" }));
    expect([state.answer, state.messages.length, state.usage.inputTokens]).toEqual([undefined, 1, 7]);
    expect(state.ending).toEqual({ kind: "cancelled", by: "pat" });
  });

  it("takes a summary's usage in the place of its reservation", () => {
    const summarising: RunEvent = { type: "context.summarising", reserved: { inputTokens: 30, outputTokens: 30 } };
    const compacted: RunEvent = {
      ...{ type: "context.compacted", tokensBefore: 900, tokensAfter: 90 },
      summaries: [{ callId: "a", text: "short" }],
    };
    const before = [...open(prepared("a", { effect: "read" })), decided("a", "deny"), summarising];
    const paid = folded(...before, {
      ...compacted,
      usage: { inputTokens: 5, outputTokens: 2 },
      costNanoUsd: 4,
    } as RunEvent);
    expect(paid.usage).toMatchObject({ inputTokens: 6, outputTokens: 3, costNanoUsd: 5, estimated: false });
    expect(paid.summaries).toEqual({ a: "short" });
    expect(paid.compactions).toEqual([{ step: 2, tokensBefore: 900, tokensAfter: 90, results: 1 }]);
    expect("openRequest" in paid).toBe(false);
    const lost = folded(...before, compacted);
    expect(lost.usage).toMatchObject({ inputTokens: 31, outputTokens: 31, costUnknown: true, estimated: true });
    const free = folded(...before.slice(0, -1), compacted);
    expect(free.usage).toMatchObject({ inputTokens: 1, outputTokens: 1, costUnknown: false, estimated: false });
  });
});

describe("the end of a turn that no model is asked after", () => {
  it("is the end of the run", () => {
    const state = folded(
      started({}, { endsAfterTurn: true }),
      SEGMENT,
      REQUESTED,
      replied(prepared("a")),
      decided("a", "deny"),
    );
    expect([state.ending, state.phase]).toEqual([{ kind: "completed" }, "OBSERVE"]);
    expect(effectsOf(state)).toEqual([{ type: "end_run", termination: { kind: "completed" } }]);
  });
});

describe("terminationCode", () => {
  it.each([
    [{ kind: "completed" }, "completed"],
    [{ kind: "limit", limit: "cycle", detail: "" }, "cycle"],
    [{ kind: "halted", code: "X", ruleId: "r", detail: "" }, "halted:X"],
    [{ kind: "world_changed", code: "X", callId: "a" }, "world_changed:X"],
    [{ kind: "rejected", approvalId: "1", by: "x" }, "rejected"],
  ] as const)("of %j is %s", (termination, code) => {
    expect(terminationCode(termination)).toBe(code);
  });
});

describe("working time", () => {
  it("is not that of what others write beside the worker", () => {
    const at = (time: number, event: RunEvent) => ({ at: time, event });
    const outside: readonly RunEvent[] = [
      { type: "message.queued", messageId: "m", text: "", principal: { kind: "customer", id: "c" }, nextRunId: "n" },
      answered("a", "approved"),
      CANCEL,
    ];
    const waiting = entries(...open(prepared("a")), decided("a", "ask"), asked("a"));
    for (const event of outside) {
      const state = fold([...waiting, at(500, event)]);
      expect([state?.workedMs, state?.segmentLastAt, state?.lastAt]).toEqual([4, 5, 500]);
    }
    const own = fold([...entries(started(), SEGMENT), at(500, REQUESTED), at(400, FINAL)]);
    expect([own?.workedMs, own?.segmentLastAt, own?.lastAt]).toEqual([499, 500, 500]);
  });
});
