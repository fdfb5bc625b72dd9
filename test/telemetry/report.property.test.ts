import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold } from "../../src/index.ts";
import { metricsOf, reportFromRun, reportFromSpans, type SpanRecord, spansOf } from "../../src/telemetry/index.ts";
import { bench, plans, play, repliesOf } from "./support.ts";

describe("reportFromSpans", () => {
  it("says of any run what its journal and its tools say", async () => {
    const seen = { blocked: 0, invalid: 0, notRun: 0, executed: 0 };
    await fc.assert(
      fc.asyncProperty(plans, fc.boolean(), async (plan, capture) => {
        const on = bench(repliesOf(plan));
        await play(on, plan);
        const entries = await on.entries();
        const spans = spansOf(entries, { run: on.run, capture });
        const report = reportFromSpans(shuffled(spans));
        expect(report).toEqual(reportFromRun(entries));
        // The tools' own record does not come from the journal. Reads of a turn may overtake each other.
        expect(report.toolNames.toSorted()).toEqual(on.ran.map((line) => line.split(" ")[0]).toSorted());
        expect(report.termination).toBeDefined();
        seen.blocked += report.blocked.length;
        seen.invalid += report.invalid.length;
        seen.notRun += report.notRun.length;
        seen.executed += report.toolNames.length;
      }),
      { numRuns: 150, seed: 7 },
    );
    // The property would say nothing about what never happened.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
  });
});

describe("spansOf", () => {
  it("has one tool span for each call, one root, no open end, and tokens that add up", async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const on = bench(repliesOf(plan));
        await play(on, plan);
        const entries = await on.entries();
        const spans = spansOf(entries, { run: on.run, withOpen: true });
        const state = fold(entries);
        const callIds = [...(state?.earlierCalls ?? []), ...(state?.turn ?? [])].map(({ call }) => call.callId);
        const tools = spans.filter(({ name }) => name.startsWith("execute_tool"));
        expect(tools.map(({ attributes }) => attributes["gen_ai.tool.call.id"]).toSorted()).toEqual(callIds.toSorted());
        expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined)).toHaveLength(1);
        expect(spans.filter(({ closedSeq }) => closedSeq === undefined)).toEqual([]);
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
        expect(spans.filter(({ startMs, endMs }) => endMs < startMs)).toEqual([]);
        const metrics = metricsOf(entries);
        expect(sum(spans, "gen_ai.usage.input_tokens")).toBe(metrics.inputTokens);
        expect(sum(spans, "gen_ai.usage.output_tokens")).toBe(metrics.outputTokens);
      }),
      { numRuns: 100 },
    );
  });

  it("only adds to what it made of a shorter journal", async () => {
    await fc.assert(
      fc.asyncProperty(plans, fc.nat(), async (plan, cut) => {
        const on = bench(repliesOf(plan));
        await play(on, plan);
        const entries = await on.entries();
        const all = spansOf(entries, { run: on.run });
        const part = spansOf(entries.slice(0, cut % (entries.length + 1)), { run: on.run });
        for (const span of part) expect(all).toContainEqual(span);
      }),
      { numRuns: 60 },
    );
  });
});

function sum(spans: readonly SpanRecord[], name: string): number {
  return spans.reduce((total, { attributes }) => total + Number(attributes[name] ?? 0), 0);
}

/** A receiver gives spans in any order. */
function shuffled(spans: readonly SpanRecord[]): readonly SpanRecord[] {
  return spans.toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1));
}
