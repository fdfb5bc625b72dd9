import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, type Limits } from "../../src/core/index.ts";
import { limitAfterReply, limitBeforeModelCall, wallClockLimit, workedMs } from "../../src/core/limit-check.ts";
import { FINAL, folded, prepared, REQUESTED, replied, SEGMENT, started } from "./support.ts";

const NEXT = { inputTokens: 60, outputTokens: 40, costNanoUsd: 5_000 };
const used = (limits: Partial<Limits>) =>
  folded(started(limits), SEGMENT, REQUESTED, replied(prepared("a", { effect: "read" })));

describe("before a model call", () => {
  it("stops at the number of steps, not after it", () => {
    const state = used({ stepsMax: 1 });
    expect(limitBeforeModelCall(state, 0, NEXT)).toEqual({
      limit: "max_steps",
      detail: "reached the per-run step limit of 1 model calls",
    });
    expect(limitBeforeModelCall(used({ stepsMax: 2 }), 0, NEXT)).toBeUndefined();
  });

  it("reserves input and reply against the tokens, up to the last one", () => {
    // One token in and one out were used.
    expect(limitBeforeModelCall(used({ tokensMax: 102 }), 0, NEXT)).toBeUndefined();
    expect(limitBeforeModelCall(used({ tokensMax: 101 }), 0, NEXT)).toEqual({
      limit: "token_budget",
      detail: "next model call (~60 input tokens + up to 40 output) would exceed the budget of 101 (used 2)",
    });
  });

  it("counts a call that left no usage at its reservation, tokens and money", () => {
    const open = folded(started({ tokensMax: 119, costNanoUsdMax: 5_000 }), SEGMENT, REQUESTED);
    expect(limitBeforeModelCall(open, 0, NEXT)).toMatchObject({
      limit: "token_budget",
      detail: expect.stringContaining("(used 20)"),
    });
    const dear = folded(started({ tokensMax: 120, costNanoUsdMax: 5_000 }), SEGMENT, REQUESTED);
    expect(limitBeforeModelCall(dear, 0, NEXT)).toEqual({
      limit: "cost_budget",
      detail: "next model call (up to $0.000005) would exceed the budget of $0.000005 (used $0.000000001)",
    });
    expect(
      limitBeforeModelCall({ ...dear, limits: { ...dear.limits, costNanoUsdMax: 5_001 } }, 0, NEXT),
    ).toBeUndefined();
  });

  it("writes whole dollars with one digit after the point", () => {
    const state = used({ costNanoUsdMax: 2e9 });
    expect(limitBeforeModelCall(state, 0, { ...NEXT, costNanoUsd: 3e9 })?.detail).toBe(
      "next model call (up to $3.0) would exceed the budget of $2.0 (used $0.000000001)",
    );
  });

  it("stops where any cost is unknown, whichever it is, and only where there is a limit on cost", () => {
    const unknown = {
      limit: "cost_budget",
      detail: "the cost of a model call is unknown, and unknown is never zero",
    };
    const state = used({ costNanoUsdMax: 1e9 });
    const { costNanoUsd: _, ...unpriced } = NEXT;
    expect(limitBeforeModelCall(state, 0, unpriced)).toEqual(unknown);
    expect(limitBeforeModelCall({ ...state, usage: { ...state.usage, costUnknown: true } }, 0, NEXT)).toEqual(unknown);
    const openUnpriced = { ...state, openRequest: { inputTokens: 1, outputTokens: 1 } };
    expect(limitBeforeModelCall(openUnpriced, 0, NEXT)).toEqual(unknown);
    expect(limitBeforeModelCall(used({}), 0, unpriced)).toBeUndefined();
    expect(limitBeforeModelCall(state, 0, NEXT)).toBeUndefined();
  });

  it("looks at the clock last", () => {
    const state = used({ wallClockMs: 1_000 });
    expect(limitBeforeModelCall(state, 1e6, NEXT)?.limit).toBe("wall_clock");
  });
});

describe("working time", () => {
  it("may be all of the limit, and one millisecond more ends the run", () => {
    const state = used({ wallClockMs: 1_500 });
    // The last entry was at 3 ms, two milliseconds after the segment began.
    expect(workedMs(state, 1_503)).toBe(1_502);
    expect(wallClockLimit(state, 1_501)).toBeUndefined();
    expect(wallClockLimit(state, 1_502)).toEqual({
      limit: "wall_clock",
      detail: "run exceeded the wall-clock limit of 1.5s (1.5s)",
    });
    expect(wallClockLimit(used({}), 1e9)).toBeUndefined();
  });

  it("does not shrink when a clock goes back, and needs a segment to grow", () => {
    const state = used({});
    expect(workedMs(state, 0)).toBe(state.workedMs);
    const { segmentLastAt: _, ...resting } = state;
    expect(workedMs(resting, 1e9)).toBe(state.workedMs);
  });
});

describe("after a reply", () => {
  const limits = (change: Partial<Limits>): Limits => {
    const { identicalCalls: _1, cycles: _2, invalidCallsMax: _3, ...bare } = DEFAULT_LIMITS;
    return { ...bare, ...change };
  };
  const hitOf = (change: Partial<Limits>, keys: string, fresh = 1, invalid = 0) =>
    limitAfterReply(
      limits(change),
      keys.split("").map((key) => `tool${key} {}`),
      fresh,
      invalid,
    );
  const row = { identicalCalls: { max: 3, scope: "consecutive" } } as const;
  const run = { identicalCalls: { max: 3, scope: "run" } } as const;

  it("counts identical calls in a row: the third stops", () => {
    expect(hitOf(row, "AA")).toBeUndefined();
    expect(hitOf(row, "AABA")).toBeUndefined();
    expect(hitOf(row, "BAAA")).toEqual({
      limit: "repeated_call",
      detail: "toolA was requested 3 times in a row with identical arguments",
    });
  });

  it("counts identical calls of the run: the fourth stops", () => {
    expect(hitOf(run, "ABABA")).toBeUndefined();
    expect(hitOf(run, "ABABABA")).toEqual({
      limit: "repeated_call",
      detail: "toolA was requested 4 times with identical arguments",
    });
  });

  it("looks at every call of the reply, and at none before it", () => {
    // Three in a row stand in the middle of what is new.
    expect(hitOf(row, "XAAAY", 4)?.detail).toContain("toolA");
    // They were there before this reply: the run went on then.
    expect(hitOf(row, "AAAY", 1)).toBeUndefined();
    expect(hitOf(row, "AAA", 0)).toBeUndefined();
    expect(hitOf({}, "AAAAAA")).toBeUndefined();
  });

  const cycles = { cycles: { lengthMax: 3, repeats: 3 } };

  it.each([
    ["ABABAB", "the last 2 calls were repeated 3 times"],
    ["XYABABAB", "the last 2 calls were repeated 3 times"],
    ["ABCABCABC", "the last 3 calls were repeated 3 times"],
    ["AABAABAAB", "the last 3 calls were repeated 3 times"],
  ])("finds the cycle of %s", (keys, detail) => {
    expect(hitOf(cycles, keys)).toEqual({ limit: "cycle", detail });
  });

  it.each(["ABABA", "BABAB", "ABABAC", "CBABAB", "ABCABCAB", "ABCDABCDABCD", "AAAAAAAAA", "ABCABDABC"])(
    "finds none in %s",
    (keys) => {
      expect(hitOf(cycles, keys)).toBeUndefined();
    },
  );

  it("knows no cycle where none is looked for", () => {
    expect(hitOf({}, "ABABABABAB")).toBeUndefined();
  });

  it("allows so many calls that do not fit, and no more", () => {
    expect(hitOf({ invalidCallsMax: 2 }, "A", 1, 2)).toBeUndefined();
    expect(hitOf({ invalidCallsMax: 2 }, "A", 1, 3)).toEqual({
      limit: "invalid_calls",
      detail: "3 calls did not fit their schema (limit 2)",
    });
    expect(hitOf({}, "A", 1, 99)).toBeUndefined();
    // A call that repeats is the nearer reason.
    expect(hitOf({ ...row, invalidCallsMax: 0 }, "AAA", 1, 9)?.limit).toBe("repeated_call");
  });

  it("are these, unless the agent says otherwise", () => {
    expect(DEFAULT_LIMITS).toEqual({
      ...{ stepsMax: 8, replyTokensMax: 1024, invalidCallsMax: 5, unreadableRepliesMax: 2, rejectionsMax: 3 },
      ...{
        identicalCalls: { max: 3, scope: "consecutive" },
        cycles: { lengthMax: 4, repeats: 3 },
        callsPerTurnMax: 16,
      },
    });
  });
});

it("a final answer leaves nothing to check", () => {
  expect(folded(started(), SEGMENT, REQUESTED, FINAL).ending).toEqual({ kind: "completed" });
});
