import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { createStockroomApp } from "../../apps/stockroom/create-app.ts";
import { WEAKNESSES } from "../../apps/stockroom/weaknesses.ts";
import type { AnyApp } from "../../src/config.ts";
import { type Termination, terminationCode } from "../../src/core/index.ts";
import { agentOutcome } from "../../src/evals/agent-outcome.ts";
import { agentMetrics, agentRunFromSpans, type CaseResult, openSuite, runCase } from "../../src/evals/index.ts";
import { spansOf } from "../../src/telemetry/index.ts";

const TIMEOUT_MS = 60_000;

/** The cases of a suite twice: as they ran, and as their spans tell of them. */
async function both(app: AnyApp, suiteName: string) {
  const suite = await openSuite(app, suiteName);
  const world = app.openWorld(":memory:");
  const { label, codes = {} } = app.agent(world as never, Date.now);
  world.close();
  const pairs: { readonly run: CaseResult; readonly spans: CaseResult }[] = [];
  for (const evalCase of suite.cases) {
    let told: ReturnType<typeof agentRunFromSpans> | undefined;
    const run = await runCase({
      app,
      suite,
      case: evalCase,
      onJournal: (key, entries) => {
        told = agentRunFromSpans(shuffled(spansOf(entries, { run: key, capture: true })), codes);
      },
    });
    if (told === undefined) throw new Error(`${evalCase.id} left no spans`);
    const { termination, modelCalls, inputTokens, outputTokens, ...rest } = told;
    const stop = termination === undefined ? run.stop : labelOf(label, run.termination, termination);
    const agent = agentOutcome(evalCase, { ...rest, stop });
    const usage = { ...run.usage, modelCalls, inputTokens, outputTokens };
    const { agent: _own, ...others } = run;
    pairs.push({
      run,
      spans: { ...others, stop, usage, modelSteps: modelCalls, calls: rest.calls, ...(agent && { agent }) },
    });
  }
  return pairs;
}

/** The spans hold the code; the word for it is the agent's, who needs the termination that the code stands for. */
function labelOf(
  label: ((end: Termination) => string) | undefined,
  end: Termination | undefined,
  code: string,
): string {
  if (end === undefined || terminationCode(end) !== code) return `spans say ${code}`;
  return label?.(end) ?? code;
}

function shuffled<Span extends { readonly spanId: string }>(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1));
}

describe("metrics from spans", () => {
  it.each([
    ["the fixed build", []],
    ["all four weaknesses", WEAKNESSES],
  ] as const)("are those of the runs: %s", { timeout: TIMEOUT_MS }, async (_, weaknesses) => {
    const pairs = await both(createStockroomApp({ weaknesses }), "reference");
    expect(agentMetrics({ cases: pairs.map(({ spans }) => spans) })).toEqual(
      agentMetrics({ cases: pairs.map(({ run }) => run) }),
    );
    expect(pairs.map(({ spans }) => spans.agent)).toEqual(pairs.map(({ run }) => run.agent));
  });

  it("hold every call of the guard cases, refused and unread ones included", { timeout: TIMEOUT_MS }, async () => {
    const pairs = [...(await both(createStockroomApp(), "guards")), ...(await both(shop, "guards"))];
    const seen = new Set(pairs.flatMap(({ run }) => run.calls.map(({ status }) => status)));
    expect([...seen].sort()).toEqual(["blocked", "executed", "invalid", "not_run"]);
    // A call that still waits for a person has no span of its own yet.
    const ended = pairs.filter(({ run }) => run.stop !== "waiting");
    expect(ended.length).toBe(pairs.length - 1);
    for (const { run, spans } of ended) {
      const plain = ({ step, tool, status, code }: CaseResult["calls"][number]) => ({ step, tool, status, code });
      expect([run.id, spans.stop, spans.calls.map(plain)]).toEqual([run.id, run.stop, run.calls.map(plain)]);
    }
  });
});
