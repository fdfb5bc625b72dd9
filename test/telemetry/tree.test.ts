import { describe, expect, it } from "vitest";
import { createConsoleExporter, createTracer, spansOf, treeLines } from "../../src/telemetry/index.ts";
import { bench, call, calls, DANA, final, play } from "./support.ts";

const REPLIES = [
  { ...calls(call("search", "packaging stock")), usage: { inputTokens: 851, outputTokens: 7 } },
  { ...calls(call("broken", 'a "quoted", text: here')), usage: { inputTokens: 1136, outputTokens: 6 } },
  { ...final("done"), usage: { inputTokens: 1279, outputTokens: 154 } },
];

describe("treeLines", () => {
  it("draws the tree as the published one", async () => {
    const on = bench(REPLIES);
    await play(on, { turns: [], answers: [] });
    const spans = spansOf(await on.entries(), { run: on.run, capture: true });
    expect(treeLines(spans)).toEqual([
      "invoke_agent bench",
      "  chat fake.scripted-v1 in=851 out=7",
      '  execute_tool search args={"what": "packaging stock"} error=False',
      "  chat fake.scripted-v1 in=1136 out=6",
      '  execute_tool broken args={"what": "a \\"quoted\\", text: here"} error=True error.type=tool_failed',
      "  chat fake.scripted-v1 in=1279 out=154",
    ]);
    expect(treeLines(spans, { withAllowed: true })).toContain(
      "  belay.authorize tool=search verdict=allow code=OK rule=belay.read_only",
    );
  });

  it("shows no arguments that were not captured, and says what is open", async () => {
    const on = bench([calls(call("pay", "pay_more"))]);
    await on.open().run("please", { runId: "run_1" }).result;
    on.clock.advance(1000);
    const spans = spansOf(await on.entries(), { run: on.run, withOpen: true });
    const lines = treeLines(spans);
    expect(lines[0]).toBe("invoke_agent bench (open)");
    expect(lines.slice(2)).toEqual([
      "  belay.authorize tool=pay verdict=ask code=ABOVE_LIMIT rule=test_rule",
      "  belay.approval tool=pay code=ABOVE_LIMIT waited_ms=0 (open)",
    ]);
  });
});

describe("createConsoleExporter", () => {
  it("writes a part at a pause and the rest with the root at the end", async () => {
    const on = bench([calls(call("pay", "pay_more")), final("done")]);
    const lines: string[] = [];
    await using tracer = createTracer({
      store: on.store,
      exporter: createConsoleExporter({ write: (line) => lines.push(line) }),
    });
    const { approvals } = await on.open().run("please", { runId: "run_1" }).result;
    await tracer.flush();
    const paused = lines.splice(0);
    expect(paused.map((line) => line.replace(/[0-9a-f]{32}/, "T").replace(/in=.*/, "…"))).toEqual([
      "trace T (part)",
      "  chat fake.scripted-v1 …",
      "  belay.authorize tool=pay verdict=ask code=ABOVE_LIMIT rule=test_rule",
    ]);
    await on.open("desk").decide({ approvalId: approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
    await on.open("w2").advance(on.run);
    await tracer.flush();
    expect(lines.map((line) => line.replace(/in=.*/, "…"))).toEqual([
      "invoke_agent bench",
      "  belay.approval tool=pay code=ABOVE_LIMIT answer=approved waited_ms=0",
      "  belay.authorize tool=pay verdict=ask code=ABOVE_LIMIT rule=test_rule",
      '  execute_tool pay args={"what": "pay_more"} error=False',
      "  chat fake.scripted-v1 …",
    ]);
  });
});
