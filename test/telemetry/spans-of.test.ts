import { describe, expect, it } from "vitest";
import type { Entry, JsonValue, RunEvent, StoredValue } from "../../src/index.ts";
import { reportFromRun, reportFromSpans, type SpanRecord, spansOf, treeLines } from "../../src/telemetry/index.ts";
import { bench, call, calls, DANA, final, MODEL, play, SECRET } from "./support.ts";

const toolSpans = (spans: readonly SpanRecord[]) => spans.filter(({ name }) => name.startsWith("execute_tool"));
const named = (spans: readonly SpanRecord[], name: string): SpanRecord => {
  const found = spans.filter((span) => span.name === name);
  expect(found).toHaveLength(1);
  return found[0] as SpanRecord;
};

describe("spansOf", () => {
  it("makes a tree of the agent, its model calls, decisions and tools", async () => {
    const on = bench([calls(call("search", "a")), final("done")]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run });
    expect(spans.map(({ name }) => name)).toEqual([
      "invoke_agent bench",
      `chat ${MODEL}`,
      "belay.authorize",
      "execute_tool search",
      `chat ${MODEL}`,
    ]);
    const [root, ...children] = spans;
    expect(root).not.toHaveProperty("parentSpanId");
    expect(new Set(children.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root?.spanId]));
    expect(spans.map(({ attributes }) => attributes["openinference.span.kind"])).toEqual([
      "AGENT",
      "LLM",
      "CHAIN",
      "TOOL",
      "LLM",
    ]);
    expect(spans.map(({ status }) => status)).toEqual(["unset", "unset", "unset", "unset", "unset"]);
    expect(spans.map(({ kind }) => kind)).toEqual(["internal", "client", "internal", "internal", "client"]);
    expect(root?.attributes).toEqual({
      "openinference.span.kind": "AGENT",
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "belay",
      "gen_ai.agent.name": "bench",
      "gen_ai.agent.version": "r1",
      "gen_ai.conversation.id": expect.any(String),
      "belay.run.id": "run_1",
      "belay.tenant": "default",
      "belay.principal.kind": "system",
      "belay.run.termination": "completed",
      "belay.run.steps": 2,
    });
    const [first] = children;
    expect((first?.endMs ?? 0) - (first?.startMs ?? 0)).toBe(100);
    const tool = named(spans, "execute_tool search");
    expect(tool.endMs - tool.startMs).toBe(10);
    expect(tool.attributes["error.type"]).toBeUndefined();
  });

  it("has token usage on chat spans alone", async () => {
    const on = bench([calls(call("search", "a"), call("pay", "b")), final("done")]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run, capture: true });
    const withUsage = spans.filter(({ attributes }) => Object.keys(attributes).some((name) => name.includes("usage")));
    expect(withUsage.map(({ name }) => name)).toEqual([`chat ${MODEL}`, `chat ${MODEL}`]);
  });

  it("marks a blocked and an invalid call as errors on their tool spans, and a denial with its code", async () => {
    const on = bench([
      calls(call("pay", "guarded"), call("pay", "forbidden"), {
        tool: "search",
        args: { json: { wrong: "x" } },
      } as never),
      final("done"),
    ]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run });
    const tools = toolSpans(spans).toSorted((left, right) => callIndex(left) - callIndex(right));
    expect(
      tools.map(({ name, status, attributes }) => [
        name,
        status,
        attributes["error.type"],
        attributes["belay.call.disposition"],
      ]),
    ).toEqual([
      ["execute_tool pay", "error", "blocked_by_guard", "blocked"],
      ["execute_tool pay", "error", "FORBIDDEN", "denied"],
      ["execute_tool search", "error", "invalid_arguments", "invalid"],
    ]);
    expect(tools[0]?.attributes["belay.call.blocked_by"]).toBe("test_rule");
    // A run guard is no policy; the policy's decision has a span of its own.
    const decisions = spans.filter(({ name }) => name === "belay.authorize");
    expect(
      decisions.map(({ attributes }) => [attributes["belay.decision.verdict"], attributes["belay.decision.code"]]),
    ).toEqual([["deny", "FORBIDDEN"]]);
    expect(decisions[0]?.attributes["belay.decision.rule"]).toBe("test_rule");
  });

  it("keeps one trace over a pause, with the wait as a span and each call once", async () => {
    const on = bench([calls(call("pay", "pay_more")), final("done")]);
    const first = await on.open("w1").run("please", { runId: "run_1" }).result;
    const before = spansOf(await on.entries(), { run: on.run, withOpen: true });
    expect(toolSpans(before)).toEqual([]);
    expect(named(before, "belay.approval").closedSeq).toBeUndefined();
    expect(spansOf(await on.entries(), { run: on.run }).map(({ name }) => name)).toEqual([
      `chat ${MODEL}`,
      "belay.authorize",
    ]);
    on.clock.advance(30_000);
    await on.open("desk").decide({ approvalId: first.approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    await on.open("w2").advance(on.run);
    const after = spansOf(await on.entries(), { run: on.run });
    expect(new Set([...before, ...after].map(({ traceId }) => traceId)).size).toBe(1);
    const wait = named(after, "belay.approval");
    expect(wait.endMs - wait.startMs).toBe(30_000);
    expect(wait.attributes["belay.approval.answer"]).toBe("approved");
    const tool = named(after, "execute_tool pay");
    expect(tool.startMs).toBeGreaterThanOrEqual(wait.endMs);
    expect(on.ran).toEqual(["pay pay_more"]);
    const root = named(after, "invoke_agent bench");
    expect(root.events.map(({ name }) => name)).toEqual(["belay.segment", "belay.segment"]);
    // A worker's name has a part of its own for each process.
    expect(root.events.map(({ attributes }) => String(attributes["belay.segment.worker"]).split("-")[0])).toEqual([
      "w1",
      "w2",
    ]);
    // What was closed before the pause is the same span afterwards.
    for (const span of before.filter(({ closedSeq }) => closedSeq !== undefined)) {
      expect(after).toContainEqual(span);
    }
  });

  it("gives the same spans each time, and others for another run or tenant", async () => {
    const on = bench([calls(call("search", "a")), final("done")]);
    await play(on, { turns: [], answers: [] });
    const entries = await on.entries();
    const ids = (tenant: string, runId: string) =>
      spansOf(entries, { run: { tenant, runId } }).map(({ traceId, spanId }) => `${traceId} ${spanId}`);
    expect(ids("a", "r")).toEqual(ids("a", "r"));
    expect(new Set([...ids("a", "r"), ...ids("b", "r"), ...ids("a", "s"), ...ids("ar", "")]).size).toBe(4 * 5);
    for (const span of spansOf(entries, { run: on.run })) {
      expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  it("has content only when it is captured", async () => {
    const on = bench([
      { kind: "calls", text: "thinking aloud", calls: [call("search", "needle")] },
      final("the answer"),
    ]);
    await on.open().run("the question", { runId: "run_1", principal: { kind: "customer", id: "cust-7" } }).result;
    const entries = await on.entries();
    const plain = JSON.stringify(spansOf(entries, { run: on.run }));
    const captured = JSON.stringify(spansOf(entries, { run: on.run, capture: true }));
    for (const content of ["needle", "the question", "the answer", "thinking aloud", "cust-7"]) {
      expect(plain).not.toContain(content);
      expect(captured).toContain(content);
    }
    const tool = named(spansOf(entries, { run: on.run, capture: true }), "execute_tool search");
    expect(tool.attributes["gen_ai.tool.call.arguments"]).toBe('{"what":"needle"}');
    expect(tool.attributes["gen_ai.tool.call.result"]).toBe('{"found":"needle"}');
  });

  it("never has the text of an exception, of a tool or of a model, whatever is captured", async () => {
    const on = bench([calls(call("broken", "a"))]);
    const { status } = await on.open().run("please", { runId: "run_1" }).result;
    expect(status).toBe("failed");
    const spans = spansOf(await on.entries(), { run: on.run, capture: true });
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(named(spans, "execute_tool broken").attributes["error.type"]).toBe("tool_failed");
    // The script is exhausted, which the model client says by throwing.
    const failed = spans.filter(({ name, status: code }) => name.startsWith("chat") && code === "error");
    expect(failed.map(({ attributes }) => attributes["error.type"])).toEqual(["model_error"]);
    expect(JSON.stringify(spans)).not.toContain("asked for number");
  });

  it("does not repeat a name or a code that could carry free text", async () => {
    const on = bench([calls({ tool: "send my key 1234 to eve", args: { json: { what: "" } } }), final("done")]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run });
    expect(toolSpans(spans).map(({ name }) => name)).toEqual(["execute_tool _OTHER"]);
    expect(JSON.stringify(spans)).not.toContain("1234");
  });

  it("captures of a result what the model was shown, and never what a filter took out", () => {
    const spans = spansOf(journal(...settledWith({ json: { note: SECRET } }, { note: "[removed]" })), {
      run: { tenant: "t", runId: "r" },
      capture: true,
    });
    const tool = named(spans, "execute_tool note");
    expect(tool.attributes["gen_ai.tool.call.result"]).toBe('{"note":"[removed]"}');
    expect(tool.attributes["belay.call.filter_notes"]).toBe(1);
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  it("has no chat span for a run that was started with its calls and asks no model", () => {
    const entries = journal(...settledWith({ json: 1 })).map(({ at, event }): Entry => {
      return { at, event: event.type === "run.started" ? { ...event, endsAfterTurn: true } : event };
    });
    const spans = spansOf(entries, { run: { tenant: "t", runId: "r" }, withOpen: true });
    expect(spans.map(({ name }) => name)).toEqual(["invoke_agent a", "belay.authorize", "execute_tool note"]);
    expect(reportFromSpans(spans)).toEqual(reportFromRun(entries));
    expect(reportFromRun(entries)).toMatchObject({ modelReplies: 0, toolNames: ["note"] });
  });

  it("cuts long content", () => {
    const run = { tenant: "t", runId: "r" };
    const spans = spansOf(journal(...settledWith({ json: "x".repeat(100_000) })), { run, capture: true });
    expect(String(named(spans, "execute_tool note").attributes["gen_ai.tool.call.result"])).toMatch(/^"x{16382}…$/);
  });

  it("uses the names of the version that the receiver expects", async () => {
    const on = bench([calls(call("search", "needle")), final("done")]);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run, capture: true, semconv: "1.36", provider: "aws.bedrock" });
    expect(spans[0]?.attributes["gen_ai.system"]).toBe("aws.bedrock");
    expect(spans[0]?.attributes).not.toHaveProperty("gen_ai.provider.name");
    const tool = named(spans, "execute_tool search");
    expect(tool.attributes["belay.tool.arguments"]).toBe('{"what":"needle"}');
    expect(treeLines(spans)).toContain('  execute_tool search args={"what": "needle"} error=False');
  });

  it("shows a compaction, with the tokens of a model that wrote the summaries on a chat span below it", () => {
    const compacted: RunEvent = {
      type: "context.compacted",
      tokensBefore: 1432,
      tokensAfter: 1284,
      summaries: [{ callId: "c1.1", text: "secret summary" }],
      usage: { inputTokens: 50, outputTokens: 5 },
    };
    const spans = spansOf(journal(compacted), { run: { tenant: "t", runId: "r" } });
    const span = named(spans, "compaction");
    expect(span.attributes).toMatchObject({
      "belay.compaction.tokens_before": 1432,
      "belay.compaction.tokens_after": 1284,
      "belay.compaction.results": 1,
      "openinference.span.kind": "CHAIN",
    });
    const chat = spans.find(({ parentSpanId }) => parentSpanId === span.spanId);
    expect(chat?.name).toBe("chat");
    expect(chat?.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 50, "belay.chat.purpose": "compaction" });
    expect(JSON.stringify(spans)).not.toContain("secret summary");
  });

  it("names a model call that was cut off interrupted, without the time until somebody took over", () => {
    const request: RunEvent = { type: "model.requested", model: "m", reserved: { inputTokens: 1, outputTokens: 1 } };
    const takeover: RunEvent = { type: "segment.started", worker: "w2", fence: 2 };
    const spans = spansOf(journal(request, takeover, request), { run: { tenant: "t", runId: "r" }, withOpen: true });
    const [lost, again] = spans.filter(({ name }) => name === "chat m");
    expect(lost).toMatchObject({ status: "error", attributes: { "error.type": "interrupted" } });
    expect((lost?.endMs ?? 0) - (lost?.startMs ?? 0)).toBe(0);
    expect(again?.closedSeq).toBeUndefined();
    expect(lost?.spanId).not.toBe(again?.spanId);
  });

  it("passes over entries that the core refuses", () => {
    const stray: RunEvent = {
      type: "model.replied",
      output: { kind: "final", text: "x" },
      usage: { inputTokens: 1, outputTokens: 1 },
    };
    const spans = spansOf(journal(stray), { run: { tenant: "t", runId: "r" }, withOpen: true });
    expect(spans.map(({ name }) => name)).toEqual(["invoke_agent a"]);
    expect(spansOf([], { run: { tenant: "t", runId: "r" }, withOpen: true })).toEqual([]);
  });
});

function callIndex({ attributes }: SpanRecord): number {
  return Number(attributes["belay.call.index"]);
}

/** A turn with one call of a read, whose result a filter may have changed. */
function settledWith(value: StoredValue, view?: JsonValue): readonly RunEvent[] {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const callId = "c1.1";
  return [
    { type: "model.requested", reserved: usage },
    {
      type: "model.replied",
      usage,
      output: { kind: "calls", text: "", calls: [{ callId, tool: "note", args: {}, effect: "read" }] },
    },
    { type: "call.decided", callId, decision: { verdict: "allow", code: "OK", reason: "", ruleId: "r" } },
    {
      type: "call.settled",
      callId,
      outcome: { status: "ok", value, ...(view !== undefined && { view }) },
      notes: [{ filter: "quarantine" }],
    },
  ];
}

/** A journal of a run that has just started, followed by these events, a minute apart. */
function journal(...events: readonly RunEvent[]): readonly Entry[] {
  const started: RunEvent = {
    type: "run.started",
    agent: { name: "a", revision: "1", policyHash: "h" },
    tenant: "t",
    principal: { kind: "system", id: "s" },
    conversationId: "c",
    input: "hello",
    limits: { stepsMax: 8, replyTokensMax: 10, unreadableRepliesMax: 2, callsPerTurnMax: 4 },
    onReject: "tell_model",
    onExpiry: "tell_model",
    onWorldChanged: "tell_model",
  };
  const segment: RunEvent = { type: "segment.started", worker: "w1", fence: 1 };
  return [started, segment, ...events].map((event, index) => ({ at: 1_800_000_000_000 + index * 60_000, event }));
}
