import { describe, expect, it } from "vitest";
import shop from "../../../apps/shop/index.ts";
import type { AnyApp } from "../../../src/config.ts";
import type { Entry } from "../../../src/core/index.ts";
import type { Agent } from "../../../src/engine/index.ts";
import { type EvalSuite, openSuite, runCase } from "../../../src/evals/index.ts";
import { formatReplay, replayDecisions } from "../../../src/evals/replay/index.ts";
import type { RunKey } from "../../../src/journal/index.ts";
import { ask, deny, type Rule } from "../../../src/policy/index.ts";

const app: AnyApp = shop;
const suite = await openSuite(app, "reference");

async function journalOf(id: string, of: EvalSuite = suite): Promise<{ run: RunKey; entries: readonly Entry[] }> {
  const evalCase = of.cases.find((each) => each.id === id);
  let journal: { run: RunKey; entries: readonly Entry[] } | undefined;
  if (evalCase !== undefined) {
    await runCase({ app, suite: of, case: evalCase, onJournal: (run, entries) => (journal = { run, entries }) });
  }
  if (journal === undefined) {
    throw new Error(`no case ${id}`);
  }
  return journal;
}

const amountOf = (args: unknown): number => (args as { amount_paise: number }).amount_paise;

/** The shop with other rules. */
function shopWith(change: (rules: readonly Rule[]) => readonly Rule[]): AnyApp {
  return {
    ...app,
    agent: (world, now) => {
      const agent: Agent = app.agent(world, now);
      return { ...agent, rules: change(agent.rules) };
    },
  };
}

const shopFirst = (rule: Rule) => shopWith((rules) => [rule, ...rules]);

describe("replayDecisions", () => {
  it("decides every scenario without a fault as it was decided, second looks included", {
    timeout: 60_000,
  }, async () => {
    const changed: string[] = [];
    let decisions = 0;
    for (const { id, faults = [], before: earlier = [] } of suite.cases) {
      if (faults.length === 0 && earlier.length === 0) {
        const { run, entries } = await journalOf(id);
        const report = await replayDecisions(app, run, entries);
        decisions += report.calls.length;
        changed.push(
          ...report.calls
            .filter(({ isChanged }) => isChanged)
            .map(({ recorded, today }) => `${id} ${recorded.code} ${today.code}`),
        );
        expect(report.effectsLeftOut).toEqual([]);
      }
    }
    expect(changed).toEqual([]);
    expect(decisions).toBeGreaterThan(30);
  });

  it("lists what a stricter rule would stop, and the money", async () => {
    const { run, entries } = await journalOf("B02");
    const refund = entries
      .flatMap(({ event }) =>
        event.type === "model.replied" && event.output.kind === "calls" ? event.output.calls : [],
      )
      .find(({ tool }) => tool === "issue_refund");
    const amount = amountOf(refund?.args);
    const stopped = shopFirst({
      id: "freeze",
      tools: ["issue_refund"],
      decide: () => deny("FROZEN", "no refunds today"),
    });
    const report = await replayDecisions(stopped, run, entries);
    const changed = report.calls.filter(({ isChanged }) => isChanged);
    // Decided twice, before and after the person's yes, and the same money.
    expect(changed.map(({ recheck, recorded, today }) => [recheck, recorded.verdict, today.code])).toEqual([
      [false, "ask", "FROZEN"],
      [true, "ask", "FROZEN"],
    ]);
    expect(report.atStake).toEqual({ paise: amount });
    const text = formatReplay(report);
    expect(text).toContain(`money at stake: ${amount} paise\n`);
    expect(text).toContain("now   deny FROZEN: no refunds today (rule freeze)\n");
  });

  it("lists what a rule that is gone would let through", async () => {
    const { run, entries } = await journalOf("I03");
    const report = await replayDecisions(
      shopWith((rules) => rules.filter(({ id }) => id !== "named_order")),
      run,
      entries,
    );
    expect(
      report.calls.filter(({ isChanged }) => isChanged).map(({ recorded, today }) => [recorded.code, today.verdict]),
    ).toEqual([["NOT_CONFIRMED_BY_USER", "allow"]]);
  });

  it("judges a call again that was refused before any rule, and one whose tool is gone", async () => {
    const { run, entries } = await journalOf("B02");
    const withoutRefunds: AnyApp = {
      ...app,
      agent: (world, now) => {
        const agent: Agent = app.agent(world, now);
        return { ...agent, tools: agent.tools.filter(({ name }) => name !== "issue_refund"), rules: [] };
      },
    };
    const report = await replayDecisions(withoutRefunds, run, entries);
    expect(report.calls.find(({ tool }) => tool === "issue_refund")?.today.code).toBe("unknown_tool");
    const refusedOnce = entries.map(({ at, event }) =>
      event.type === "model.replied" && event.output.kind === "calls"
        ? {
            at,
            event: {
              ...event,
              output: {
                ...event.output,
                calls: event.output.calls.map((call) => ({
                  ...call,
                  refusal: { code: "unknown_tool", message: "there was none", retryable: false },
                })),
              },
            },
          }
        : { at, event },
    );
    const again = await replayDecisions(app, run, refusedOnce);
    expect(again.calls[0]).toMatchObject({ recorded: { code: "unknown_tool" }, isChanged: true });
  });

  it("lets a rule judge on what it read then, and says where the world differs", async () => {
    const limit = (most: number, now: number): Rule => ({
      id: "stock",
      tools: ["issue_refund"],
      decide: (_, { read }) => (read("open", now) > most ? ask("MANY", "many are open") : undefined),
    });
    const { run, entries } = await journalOf("B02");
    const recorded = entries.map(({ at, event }) =>
      event.type === "call.decided"
        ? {
            at,
            event: { ...event, decision: { ...event.decision, ruleId: "stock", code: "MANY", reads: { open: 5 } } },
          }
        : { at, event },
    );
    const same = await replayDecisions(shopFirst(limit(4, 0)), run, recorded);
    const refund = same.calls.find(({ tool }) => tool === "issue_refund");
    expect(refund).toMatchObject({ today: { code: "MANY" }, isChanged: false, inputsDiffer: ["open"] });
    const loose = await replayDecisions(shopFirst(limit(5, 9)), run, recorded);
    expect(loose.calls.find(({ tool }) => tool === "issue_refund")?.today.code).toBe("AMOUNT_ABOVE_AUTO");
  });

  it("never runs a tool that may reach outside the world", async () => {
    let ran = 0;
    const reaching: AnyApp = {
      ...app,
      agent: (world, now) => {
        const agent: Agent = app.agent(world, now);
        const tools = agent.tools.map((tool) => ({
          ...tool,
          inTransaction: false,
          execute: () => {
            ran += 1;
            return {};
          },
        }));
        return { ...agent, tools };
      },
    };
    const { run, entries } = await journalOf("B02");
    const report = await replayDecisions(reaching, run, entries);
    expect(ran).toBe(0);
    expect(report.effectsLeftOut.length).toBeGreaterThan(0);
    expect(report.effectsLeftOut[0]).toContain("issue_refund");
  });
});
