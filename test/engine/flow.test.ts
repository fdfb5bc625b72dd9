import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderMessages } from "../../src/context/index.ts";
import { createHarness, defineTool, fold, toolFailure } from "../../src/index.ts";
import { ASK_ABOVE_1000, calls, DANA, final, world } from "./support.ts";

describe("one call, from model reply to record", () => {
  it("runs an allowed call once and records intent before outcome", async () => {
    const { harness, effects, types, model } = world([calls(["refund", { order: "A1", cents: 500 }]), final("Done.")]);
    const result = await harness.run("refund A1", { runId: "r1" }).result;
    expect(result).toMatchObject({ status: "done", answer: "Done.", label: "completed" });
    expect(effects).toEqual(["A1:500"]);
    expect(await types("r1")).toEqual([
      "run.started",
      "segment.started",
      "model.requested",
      "model.replied",
      "call.decided",
      "call.started",
      "call.settled",
      "model.requested",
      "model.replied",
      "run.ended",
    ]);
    model.assertConsumed();
  });

  it("writes the transition log of the eight rows", async () => {
    const { harness } = world([calls(["search", { q: "a" }]), calls(["search", { q: "b" }]), final("ok")]);
    const { state } = await harness.run("go").result;
    expect(state.phaseChanges.map(({ step, from, to, reason }) => `${step} ${from}→${to} ${reason}`)).toEqual([
      "0 PLAN→CALL_MODEL start",
      "1 CALL_MODEL→EXECUTE_TOOLS 1 tool call(s)",
      "1 EXECUTE_TOOLS→OBSERVE tool results appended",
      "1 OBSERVE→CALL_MODEL observe → call model",
      "2 CALL_MODEL→EXECUTE_TOOLS 1 tool call(s)",
      "2 EXECUTE_TOOLS→OBSERVE tool results appended",
      "2 OBSERVE→CALL_MODEL observe → call model",
      "3 CALL_MODEL→DONE stop_reason:end_turn",
    ]);
  });

  it("waits for a person, goes on in another process, and runs once", async () => {
    const first = world([calls(["refund", { order: "A1", cents: 5000 }]), final("Refunded.")]);
    const waiting = await first.harness.run("refund", { runId: "r1" }).result;
    expect(waiting.status).toBe("waiting");
    expect(waiting.state.phase).toBe("AWAIT_APPROVAL");
    expect(first.effects).toEqual([]);
    const [approval] = waiting.approvals;
    expect(approval).toMatchObject({ tool: "refund", args: { order: "A1", cents: 5000 }, code: "ABOVE_LIMIT" });

    const second = createHarness(first.options);
    const decided = await second.decide({ approvalId: approval?.approvalId ?? "", answer: "approved", by: DANA });
    expect(decided.status).toBe("recorded");
    const run = { tenant: "default", runId: "r1" };
    const results = await Promise.all([second.advance(run), second.advance(run), first.harness.advance(run)]);
    expect(results[0]).toMatchObject({ status: "done", answer: "Refunded." });
    expect(first.effects).toEqual(["A1:5000"]);
    const again = await second.decide({ approvalId: approval?.approvalId ?? "", answer: "rejected", by: DANA });
    expect(again).toMatchObject({ status: "already_decided", approval: { status: "approved" } });
    expect((await second.advance(run)).status).toBe("done");
    expect(first.effects).toEqual(["A1:5000"]);
  });

  it("shows the model the same text in this process and in one that replays the journal", async () => {
    const odd = { z: 1, a: { y: "é", b: [{ d: 1, c: 2 }] } };
    const tools = () => [
      defineTool({
        name: "look",
        description: "",
        level: "read",
        recovery: "read",
        input: z.looseObject({}),
        execute: (args) => ({ z: args, a: odd }),
      }),
      defineTool({
        name: "fail",
        description: "",
        level: "read",
        recovery: "read",
        input: z.looseObject({}),
        execute: () => toolFailure("NO", "no", { details: odd }),
      }),
    ];
    const setup = world(
      [calls(["look", odd], ["fail", odd], ["look", 5]), calls(["look", { b: 1, a: 2 }]), final("ok")],
      { tools },
    );
    const result = await setup.harness.run("go").result;
    const replayed = fold(await setup.harness.entries(result));
    expect(JSON.stringify(renderMessages(replayed?.messages ?? [], {}))).toBe(
      JSON.stringify(renderMessages(result.state.messages, {})),
    );
    expect(replayed).toEqual(result.state);
  });

  it("judges the changing calls of one turn one after another", async () => {
    let left = 1500;
    const limit = {
      id: "remaining",
      decide: (call: { readonly args: unknown }) =>
        (call.args as { cents: number }).cents > left
          ? ({ verdict: "deny", code: "EXCEEDS", reason: "more than is left" } as const)
          : undefined,
    };
    const { harness, effects } = world(
      [
        calls(
          ["refund", { order: "A", cents: 900 }],
          ["refund", { order: "B", cents: 900 }],
          ["refund", { order: "C", cents: 900 }],
        ),
        final("ok"),
      ],
      {
        agent: { rules: [limit, ASK_ABOVE_1000] },
        tools: (ledger) => [
          {
            name: "refund",
            description: "",
            level: "irreversible",
            recovery: "keyed",
            input: refundInput,
            execute: async ({ order, cents }: { order: string; cents: number }) => {
              left -= cents;
              ledger.effects.push(order);
              return null;
            },
          },
        ],
      },
    );
    const result = await harness.run("go").result;
    expect(effects).toEqual(["A"]);
    expect(result.calls.map((call) => call.outcome?.status)).toEqual(["ok", "denied", "denied"]);
  });
});

const refundInput = z.strictObject({ order: z.string(), cents: z.int() });
