import { describe, expect, it } from "vitest";
import { traceSteps } from "../../src/cli/trace.ts";
import type { Entry, ModelOutput, RunEvent } from "../../src/core/index.ts";

const usage = { inputTokens: 7, outputTokens: 3 };
const entries = (...events: readonly RunEvent[]): Entry[] => events.map((event, at) => ({ at: at * 10, event }));
const requested: RunEvent = { type: "model.requested", reserved: usage };
const replied = (output: ModelOutput): RunEvent => ({ type: "model.replied", output, usage });
const decided = (callId: string, verdict: "allow" | "deny" | "ask" | "halt", code: string): RunEvent => ({
  type: "call.decided",
  callId,
  decision: { verdict, code, reason: "", ruleId: "r" },
});

describe("traceSteps", () => {
  it("has one record per model step, with the first decision of each call", () => {
    const call = (callId: string) => ({ callId, tool: `tool_${callId}`, args: {}, effect: "change" }) as const;
    const error = { code: "INVALID_ARGS", message: "", retryable: false };
    const steps = traceSteps(
      "run_1",
      entries(
        requested,
        replied({ kind: "unreadable", problem: "x" }),
        requested,
        replied({
          kind: "calls",
          text: "",
          calls: [call("a"), call("b"), call("c"), { ...call("d"), refusal: error }],
        }),
        decided("a", "ask", "ABOVE"),
        decided("a", "deny", "CHANGED"),
        decided("b", "halt", "STOP"),
        requested,
        replied({ kind: "final", text: "done" }),
      ),
    );
    expect(steps).toEqual([
      { run: "run_1", step: 1, model_ms: 10, tokens: [7, 3], error: "invalid_output", calls: [] },
      {
        run: "run_1",
        step: 2,
        model_ms: 10,
        tokens: [7, 3],
        calls: [
          { tool: "tool_a", decision: "needs_approval", code: "ABOVE" },
          { tool: "tool_b", decision: "deny", code: "STOP" },
          { tool: "tool_c", decision: null, code: null },
          { tool: "tool_d", decision: "deny", code: "INVALID_ARGS" },
        ],
      },
      { run: "run_1", step: 3, model_ms: 10, tokens: [7, 3], calls: [] },
    ]);
  });
});
