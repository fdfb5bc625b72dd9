// biome-ignore-all lint/suspicious/noExplicitAny: hostile values have no type
// biome-ignore-all lint/style/noNonNullAssertion: a missing value fails the test as it should
// Each test states what must hold and did not hold once.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { shopAgent } from "../../apps/shop/agent.ts";
import { shopPlanner } from "../../apps/shop/planner.ts";
import { SHOP_PRICES } from "../../apps/shop/prices.ts";
import { openShopWorld } from "../../apps/shop/world/shop-world.ts";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { compaction } from "../../src/context/index.ts";
import { createHarness, defineAgent, defineTool, toolFailure } from "../../src/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, DANA, final, manualClock, searchTool, world } from "../engine/support.ts";

const D = "default";
const R = { tenant: D, runId: "r" };
const OK = { id: "ok", decide: () => ({ verdict: "allow", code: "OK", reason: "" }) as const };
const PRICE = { inputUsdPerMillion: 10, outputUsdPerMillion: 10 };
const model = (generate: any, id = "m") => ({ id, generate });
async function shop(message: string, client: any, principal: any = { kind: "person", id: "front-desk" }) {
  const w = openShopWorld(":memory:");
  const h = createHarness({ agent: shopAgent(w), model: client, store: createMemoryStore(), prices: SHOP_PRICES });
  const r = await h.run(message, { principal }).result;
  return { ...w.snapshot(), approvals: r.approvals.length };
}
const refund = (o: string, rs: number, key: string) =>
  ["issue_refund", { order_id: o, amount_paise: rs * 100, idempotency_key: key }] as const;

describe("the shop does nothing that the customer refused", () => {
  it.each([
    "Please do NOT issue the refund on O-1001",
    "Please don't, under any circumstances, refund O-1001",
    "Under no circumstances refund O-1001",
    "I no longer need a refund for O-1001",
    "Refund for O-1001 isn't needed",
    "Refund O-1001? No way.",
    "Don't you dare refund O-1001",
    "Please ignore the refund request for O-1001",
    "Hold off on the refund for O-1001",
    "Neither refund nor cancel O-1001",
    "Cancel my refund request for O-1001",
    "The note on O-1001 says: refund this order. Is that true?",
    "Is a refund for O-1001 possible",
    "Can you explain the refund on O-1001",
    "My friend's email: 'Please refund O-1001'. I don't want it.",
  ])("no refund: %s", async (m) => {
    expect((await shop(m, shopPlanner())).refunds).toEqual({});
  });
  it.each([
    "Do NOT, repeat NOT, cancel O-1003",
    "I wanted to cancel O-1003 but changed my mind",
    "If I cancel O-1003, do I lose money?",
    "Please cancel the e-mail about O-1003",
    "cancel O-1003? no thanks",
    "Rather than cancel O-1003, just refund O-1001",
  ])("no cancellation: %s", async (m) => {
    expect((await shop(m, shopPlanner())).status).toEqual({});
  });
  it("refuses a refund of the order that the message excludes, whatever the model says", async () => {
    for (const m of ["Do not refund O-1001. Please refund O-1008.", "refund O-1008, not O-1001"])
      expect((await shop(m, scriptedModel([calls(refund("O-1001", 1500, "key-000001")), final("x")]))).refunds).toEqual(
        {},
      );
  });
  it("an amount stated once is refunded once without a person", async () => {
    const r = await shop(
      "Please refund Rs 2,000 for order O-1005",
      scriptedModel([
        calls(refund("O-1005", 2000, "key-000001")),
        calls(refund("O-1005", 2000, "key-000002")),
        final("x"),
      ]),
    );
    expect(r.refunds).toEqual({ "O-1005": [200_000] });
  });
  it("does not take a part of a number for the amount", async () => {
    expect((await shop("refund ₹ 1 500 on O-1011", shopPlanner())).refunds).toEqual({});
  });
  it("'everything except Rs 500' is not Rs 500", async () => {
    expect((await shop("Refund everything except Rs 500 on O-1011", shopPlanner())).refunds).toEqual({});
  });
  it("a customer principal whose id the shop does not know owns no order", async () => {
    for (const id of ["alice@example.com", "\u0421-05", "\u200bC-05"])
      expect(
        (
          await shop("Please refund O-1001", scriptedModel([calls(refund("O-1001", 1500, "key-000001")), final("x")]), {
            kind: "customer",
            id,
          })
        ).refunds,
      ).toEqual({});
  });
});

describe("whatever a model client or tool returns ends in a typed state", () => {
  const junk: [string, any][] = [
    ["undefined", undefined],
    ["null", null],
    [
      "throwing getter",
      {
        kind: "final",
        text: "x",
        get usage() {
          throw new Error("secret");
        },
      },
    ],
    ["null call", { kind: "calls", text: "", calls: [null] }],
    ["call without args", { kind: "calls", text: "", calls: [{ tool: "refund" }] }],
    ["args as string", { kind: "calls", text: "", calls: [{ tool: "refund", args: "x" }] }],
    ["null-prototype name", { kind: "calls", text: "", calls: [{ tool: Object.create(null), args: { json: {} } }] }],
    ["100,000 three-byte characters", { kind: "final", text: "₹".repeat(100_000) }],
    [
      "16 calls of 16 KB",
      {
        kind: "calls",
        text: "",
        calls: Array.from({ length: 16 }, (_, i) => ({
          tool: "search",
          args: { json: { q: String(i % 10).repeat(20_000) } },
        })),
      },
    ],
  ];
  it.each(junk)("reply: %s", async (_n, v) => {
    const r = await world([], { options: { model: model(async () => v) } }).harness.run("x", { runId: "r" }).result;
    expect(r.termination).toBeDefined();
  });
  it("a huge reported usage is charged to the shared budget", async () => {
    const w = world([], {
      options: {
        model: model(async () => ({ ...final("x"), usage: { inputTokens: 9e15, outputTokens: 0 } })),
        budgets: { b: 1e12 },
        prices: { m: PRICE },
      },
    });
    await w.harness.run("x", { runId: "r" }).result;
    expect((await w.options.store.budget(D, "b")).used).toBeGreaterThan(1e12);
  });
  it("a keyed tool that fails with large details runs once", async () => {
    let n = 0;
    const w = world([calls(["pay", {}]), final("x")], {
      agent: { rules: [OK] },
      tools: () => [
        defineTool({
          name: "pay",
          description: "",
          level: "write",
          recovery: "keyed",
          input: z.strictObject({}),
          execute: () => {
            n += 1;
            return toolFailure("X", "m", { details: "d".repeat(300_000) });
          },
        }),
      ],
    });
    await w.harness.run("x", { runId: "r" }).result.catch(() => 0);
    for (let i = 0; i < 12; i++) await w.harness.advance(R).catch(() => 0);
    expect(n).toBe(1);
  });
  it("a custom executor's junk does not throw out of the run", async () => {
    for (const v of [undefined, null, { ok: false }]) {
      const w = world([calls(["refund", { order: "A", cents: 5 }]), final("x")], {
        agent: { executor: (i: any) => ({ ...i, execute: async () => v as never }) },
      });
      expect((await w.harness.run("x", { runId: "r" }).result).status).not.toBe("busy");
    }
  });
  it("a rule's long reason denies and does not brick the run", async () => {
    const w = world([calls(["refund", { order: "A", cents: 5 }]), final("x")], {
      agent: { rules: [{ id: "a", decide: () => ({ verdict: "deny", code: "X", reason: "r".repeat(300_000) }) }] },
    });
    expect((await w.harness.run("x", { runId: "r" }).result).status).toBe("done");
  });
  it("an alarm hook that throws changes no outcome", async () => {
    let n = 0;
    const w = world([calls(["pay", {}]), final("x")], {
      agent: {
        rules: [OK],
        filters: [
          {
            id: "bad",
            apply: () => {
              throw new Error("f");
            },
          } as never,
        ],
      },
      options: {
        onAlarm: () => {
          throw new Error("hook");
        },
      },
      tools: () => [
        defineTool({
          name: "pay",
          description: "",
          level: "write",
          recovery: "opaque",
          input: z.strictObject({}),
          execute: async () => {
            n += 1;
            return 1;
          },
        }),
      ],
    });
    const r = await w.harness.run("x", { runId: "r" }).result;
    expect([n, r.calls[0]?.outcome?.status]).toEqual([1, "ok"]);
  });
});

describe("money", () => {
  const old = (n: number) =>
    [
      calls(...Array.from({ length: n }, (_, i) => ["search", { q: "a".repeat(900) + i }] as const)),
      calls(["search", { q: "z" }]),
      final("x"),
    ].map((r) => ({ ...r, usage: { inputTokens: 10, outputTokens: 10 } }));
  it("summaries by a model stay within the run's cost cap and are booked to the shared budget", async () => {
    let _paid = 0;
    const s = model(async () => {
      _paid += 1;
      return { ...final("s"), usage: { inputTokens: 1000, outputTokens: 256 } };
    }, "s");
    const w = world(old(12), {
      agent: {
        limits: { costUsdMax: 0.06, replyTokensMax: 50 },
        compaction: compaction({ tokenThreshold: 100, keepTurns: 1, model: s }),
      },
      options: { budgets: { b: 120_000_000 }, prices: { s: PRICE, scripted: PRICE } },
    });
    const r = await w.harness.run("x", { runId: "r" }).result;
    expect(r.usage.costNanoUsd).toBeLessThanOrEqual(60_000_000);
    expect((await w.options.store.budget(D, "b")).used).toBe(r.usage.costNanoUsd);
  });
  it("a crash during a compaction leaves no model call unrecorded", async () => {
    let paid = 0;
    let crash = 6;
    const store = createMemoryStore();
    const flaky = {
      ...store,
      commit: async (c: any) => {
        if (crash > 0 && c.entries.some((e: any) => e.event.type === "context.compacted")) {
          crash -= 1;
          throw new Error("killed");
        }
        return store.commit(c);
      },
    };
    const s = model(async () => {
      paid += 1;
      return { ...final("s"), usage: { inputTokens: 200, outputTokens: 100 } };
    }, "s");
    const w = world(old(3), {
      agent: {
        limits: { costUsdMax: 2, replyTokensMax: 50 },
        compaction: compaction({ tokenThreshold: 100, keepTurns: 1, model: s }),
      },
      options: { store: flaky as never, prices: { s: PRICE, scripted: PRICE } },
    });
    await w.harness.run("x", { runId: "r" }).result.catch(() => 0);
    let r: any;
    for (let i = 0; i < 8; i++) r = await w.harness.advance(R).catch(() => r);
    expect(paid * 3_000_000).toBeLessThanOrEqual(r.usage.costNanoUsd);
  });
  it("a compaction client that answers nothing is not asked for ever", async () => {
    let paid = 0;
    const w = world(old(3), {
      agent: {
        compaction: compaction({
          tokenThreshold: 100,
          keepTurns: 1,
          model: model(async () => {
            paid += 1;
            return undefined;
          }) as never,
        }),
      },
    });
    await w.harness.run("x", { runId: "r" }).result.catch(() => 0);
    for (let i = 0; i < 20; i++) await w.harness.advance(R).catch(() => 0);
    expect(paid).toBeLessThan(10);
  });
  it("a cost cap holds for a prompt that is not ASCII", async () => {
    const w = world([], {
      options: {
        model: model(async () => ({ ...final("x"), usage: { inputTokens: 4000, outputTokens: 10 } })),
        prices: { m: PRICE },
      },
      agent: { limits: { costUsdMax: 0.03, replyTokensMax: 100 } },
    });
    expect((await w.harness.run("अ".repeat(4000)).result).usage.costNanoUsd).toBeLessThanOrEqual(30_000_000);
  });
  it("a limit that is present and undefined is refused or defaulted, not lifted", async () => {
    const w = world([...Array.from({ length: 20 }, (_, i) => calls(["search", { q: `a${i}` }])), final("x")], {
      agent: { limits: { stepsMax: undefined as never } },
    });
    expect((await w.harness.run("x").result).usage.modelCalls).toBeLessThanOrEqual(8);
  });
});

describe("runs, messages and tenants", () => {
  const waiting = async (replies: any[] = []) => {
    const w = world([calls(["refund", { order: "A", cents: 5000 }]), final("1"), ...replies]);
    const r = await w.harness.run("first", { conversationId: "c", runId: "r1" }).result;
    return {
      w,
      end: async () => {
        await w.harness.decide({ approvalId: r.approvals[0]!.approvalId, answer: "rejected", by: DANA });
        return w.harness.advance({ tenant: D, runId: "r1" });
      },
    };
  };
  it("a queued message keeps the tools that were offered for it", async () => {
    const { w, end } = await waiting([calls(["refund", { order: "B", cents: 500 }]), final("2")]);
    const m: any = await w.harness.message("c", "just look", { offeredTools: ["search"] });
    await end();
    await w.harness.advance(m.run);
    expect(w.effects).toEqual([]);
  });
  it("no queued message is lost: run id taken, repeated, or not allowed", async () => {
    const { w, end } = await waiting([final("2"), final("3"), final("4")]);
    for (const [text, runId] of [
      ["a", "m1"],
      ["a", "m1"],
      ["b", "m3"],
    ] as const)
      await w.harness.message("c", text, { runId }).catch(() => 0);
    let r = await end();
    for (let i = 0; i < 6 && r.nextRun; i++) r = await w.harness.advance(r.nextRun);
    expect(r.nextRun).toBeUndefined();
    expect((await w.options.store.conversation(D, "c")).map((x) => x.input)).toContain("b");
  });
  it("a message with a bad run id is refused when it is sent", async () => {
    const { w } = await waiting();
    await expect(w.harness.message("c", "x", { runId: "x".repeat(300) })).rejects.toMatchObject({
      code: "BELAY_ID_INVALID",
    });
  });
  it("two messages at once do not run beside each other in one conversation", async () => {
    const m = await Promise.all(
      [world([final("1"), final("2")])].flatMap((w) => [w.harness.message("c", "one"), w.harness.message("c", "two")]),
    );
    expect(m.map((x) => x.status).sort()).toEqual(["queued", "started"]);
  });
  it("long answers never make a conversation unusable", async () => {
    const w = world(
      Array.from({ length: 7 }, () => final("x".repeat(60_000))),
      { agent: { memoryTurnsMax: 6 } },
    );
    for (let i = 0; i < 7; i++)
      expect((await w.harness.run(`m${i}`, { conversationId: "c" }).result).status).toBe("done");
  });
  it("message() waits without spinning while another worker holds the ended run", async () => {
    const inner = createMemoryStore();
    let reads = 0;
    const store = {
      ...inner,
      read: (...a: any[]) => {
        reads += 1;
        if (reads > 5000) throw new Error("spinning");
        return (inner as any).read(...a);
      },
      commit: async (c: any) => {
        if (c.entries[0].event.input === "second") throw new Error("killed");
        return inner.commit(c);
      },
    };
    const w = world([calls(["refund", { order: "A", cents: 5000 }]), final("1")], {
      options: { store: store as never },
    });
    const r = await w.harness.run("first", { conversationId: "c", runId: "r1" }).result;
    await w.harness.message("c", "second");
    await w.harness.decide({ approvalId: r.approvals[0]!.approvalId, answer: "rejected", by: DANA });
    await w.harness.advance({ tenant: D, runId: "r1" }).catch(() => 0);
    await inner.acquireLease({ tenant: D, runId: "r1" }, "other", 15_000, w.clock.now());
    reads = 0;
    const sent = w.harness.message("c", "third").then(
      (m) => m.status,
      (e) => e.message,
    );
    expect(await Promise.race([sent, new Promise((q) => setTimeout(() => q("waiting"), 200))])).not.toBe("spinning");
  });
  it("idempotency keys of two tenants differ", async () => {
    const w = world([
      calls(["refund", { order: "A", cents: 5 }]),
      final("x"),
      calls(["refund", { order: "B", cents: 7 }]),
      final("x"),
    ]);
    await w.harness.run("x", { tenant: "a", runId: "b:c" }).result;
    await w.harness.run("x", { tenant: "a:b", runId: "c" }).result;
    expect(new Set(w.keys).size).toBe(2);
  });
  it("cancelling a run touches no run of another tenant", async () => {
    let aborted = false;
    const w = world([], {
      options: {
        model: model(async (_q: any, o: any) => {
          o.signal.addEventListener("abort", () => {
            aborted = true;
          });
          await new Promise((r) => setTimeout(r, 150));
          return final("x");
        }),
      },
    });
    await w.harness.start("other", { tenant: "a:b", runId: "c" });
    const h = w.harness.run("x", { tenant: "a", runId: "b:c" });
    await new Promise((r) => setTimeout(r, 50));
    await w.harness.cancel({ tenant: "a:b", runId: "c" }, DANA);
    await h.result;
    expect(aborted).toBe(false);
  });
  it("the same run id from another principal, or memory of another principal, is not handed out", async () => {
    let sys = "";
    const w = world([], {
      agent: { memoryTurnsMax: 6 },
      options: {
        model: model(async (q: any) => {
          sys = q.system;
          return final("card 4242");
        }),
      },
    });
    await w.harness.run("secret", { conversationId: "c", runId: "r", principal: { kind: "customer", id: "alice" } })
      .result;
    await w.harness
      .run("hi", { conversationId: "c", principal: { kind: "customer", id: "mallory" } })
      .result.catch(() => 0);
    expect(sys).not.toContain("secret");
    await expect(
      w.harness.run("secret", { runId: "r", principal: { kind: "customer", id: "mallory" } }).result,
    ).rejects.toMatchObject({ code: "BELAY_RUN_EXISTS" });
  });
});

describe("approvals", () => {
  const ask = (code: string) => ({ verdict: "ask", code, reason: code }) as const;
  it("every question of the rules is put to a person before the call runs", async () => {
    const asked: string[] = [];
    let fraud = false;
    const w = world([calls(["refund", { order: "A", cents: 5000 }]), final("x")], {
      agent: {
        rules: [
          { id: "a", decide: () => ask("AMOUNT") },
          { id: "b", decide: () => (fraud ? ask("FRAUD") : undefined) },
        ],
      },
    });
    let r = await w.harness.run("x", { runId: "r" }).result;
    fraud = true;
    for (let i = 0; i < 3 && r.approvals.length > 0; i++) {
      asked.push(r.approvals[0]!.code);
      await w.harness.decide({ approvalId: r.approvals[0]!.approvalId, answer: "approved", by: DANA });
      r = await w.harness.advance(R);
    }
    expect(asked.join() === "AMOUNT" && w.effects.length > 0).toBe(false);
  });
  it("the same call is not asked about again after a no", async () => {
    const w = world([
      calls(["refund", { order: "A", cents: 5000 }]),
      calls(["refund", { order: "A", cents: 5000 }]),
      final("x"),
    ]);
    const r = await w.harness.run("x", { runId: "r" }).result;
    await w.harness.decide({ approvalId: r.approvals[0]!.approvalId, answer: "rejected", by: DANA });
    expect((await w.harness.advance(R)).approvals).toEqual([]);
  });
  it("an answer that is neither yes nor no is refused with a typed error, and so is a person without a name", async () => {
    for (const q of [
      { answer: "approve", by: DANA },
      { answer: "approved", by: { kind: "person", id: "  " } },
      { answer: "approved", by: { kind: "person", id: 5 } },
    ]) {
      const w = world([calls(["refund", { order: "A", cents: 5000 }]), final("x")]);
      const r = await w.harness.run("x", { runId: "r" }).result;
      const id = r.approvals[0]!.approvalId;
      await w.harness.decide({ approvalId: id, ...q } as never).catch(() => 0);
      expect((await w.options.store.approval(D, id))?.status).toBe("pending");
    }
  });
  it("an approval lifetime that is no positive number is refused at start-up", () => {
    for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => world([], { agent: { approval: { ttlMs } } })).toThrow(/ttlMs/);
  });
  it("what a person is shown is what the hash vouches for", async () => {
    const f = `${mkdtempSync(join(tmpdir(), "belay-found-"))}/a.db`;
    const s1 = await openSqliteStore(f);
    await world([calls(["refund", { order: "C", cents: 9000 }])], { options: { store: s1 } }).harness.run("x", {
      runId: "r",
    }).result;
    await s1.close();
    const d = new DatabaseSync(f);
    d.exec(`update approvals set args='{"cents":1,"order":"C"}'`);
    d.close();
    const store = await openSqliteStore(f);
    const w = world([final("x")], { options: { store } });
    const [row] = await store.approvals({ tenant: D, status: "pending" }).catch(() => []);
    if (row !== undefined)
      await w.harness
        .decide({ approvalId: row.approvalId, answer: "approved", by: DANA, argsHash: row.argsHash })
        .catch(() => 0);
    await w.harness.advance(R).catch(() => 0);
    await store.close();
    expect(w.effects).toEqual([]);
  });
});

describe("durability", () => {
  it("an outcome is not lost because the commit of another call failed", async () => {
    const store = createMemoryStore();
    let fail = true;
    const s2 = {
      ...store,
      commit: async (c: any) => {
        if (fail && c.entries.some((e: any) => e.event.type === "call.settled" && e.event.callId === "c1.1")) {
          fail = false;
          throw new Error("disk");
        }
        return store.commit(c);
      },
    };
    const w = world([calls(["search", { q: "a" }], ["pay", {}]), final("x")], {
      agent: { rules: [OK] },
      options: { store: s2 as never },
      tools: (l) => [
        searchTool(l),
        defineTool({
          name: "pay",
          description: "",
          level: "write",
          recovery: "opaque",
          input: z.strictObject({}),
          execute: async () => {
            await new Promise((r) => setTimeout(r, 150));
            return "paid";
          },
        }),
      ],
    });
    await w.harness.run("x", { runId: "r" }).result.catch(() => 0);
    await w.harness.advance(R);
    await new Promise((r) => setTimeout(r, 300));
    expect(JSON.stringify(await w.harness.entries(R))).toContain("paid");
  });
  it("two workers of one name do not run one call side by side", async () => {
    const store = createMemoryStore();
    let running = 0,
      most = 0;
    const clock = manualClock();
    const mk = () =>
      createHarness({
        store,
        clock,
        worker: "w",
        model: model(async (q: any) => (q.messages.length > 1 ? final("x") : calls(["pay", {}]))),
        agent: defineAgent({
          name: "t",
          revision: "1",
          instructions: "",
          rules: [OK],
          tools: [
            defineTool({
              name: "pay",
              description: "",
              level: "write",
              recovery: "keyed",
              input: z.strictObject({}),
              execute: async () => {
                running += 1;
                most = Math.max(most, running);
                await new Promise((r) => setTimeout(r, 150));
                running -= 1;
                return 1;
              },
            }),
          ],
        }),
      });
    const p = mk().run("x", { runId: "r" }).result;
    await new Promise((r) => setTimeout(r, 50));
    await mk().advance(R);
    await p;
    expect(most).toBe(1);
  });
  it("a second effect with another result alarms", async () => {
    const store = createMemoryStore();
    let n = 0;
    const alarms: string[] = [];
    const ca = manualClock(),
      cb = manualClock();
    cb.advance(60_000);
    const mk = (clock: any) =>
      createHarness({
        store,
        clock,
        onAlarm: (a) => alarms.push(a.code),
        model: model(async (q: any) => (q.messages.length > 1 ? final("x") : calls(["pay", {}]))),
        agent: defineAgent({
          name: "t",
          revision: "1",
          instructions: "",
          rules: [OK],
          tools: [
            defineTool({
              name: "pay",
              description: "",
              level: "write",
              recovery: "keyed",
              input: z.strictObject({}),
              execute: async () => {
                const refundId = ++n;
                await new Promise((r) => setTimeout(r, refundId === 1 ? 300 : 30));
                return { refundId };
              },
            }),
          ],
        }),
      });
    const p = mk(ca).run("x", { runId: "r" }).result;
    await new Promise((r) => setTimeout(r, 50));
    await mk(cb).advance(R);
    await p;
    expect(alarms).toContain("OUTCOME_DIFFERS");
  });
  it("a tool that became a writing one between reply and decision has its intent recorded", async () => {
    const store = createMemoryStore();
    let dead = false;
    const s2 = {
      ...store,
      commit: async (c: any) => {
        if (dead) throw new Error("killed");
        const r = await store.commit(c);
        dead = c.entries.some((e: any) => e.event.type === "model.replied");
        return r;
      },
    };
    let effects = 0;
    const mk = (st: any, level: any, recovery: any) =>
      createHarness({
        store: st,
        model: model(async (q: any) => (q.messages.length > 1 ? final("x") : calls(["t", {}]))),
        agent: defineAgent({
          name: "t",
          revision: level,
          instructions: "",
          rules: [OK],
          tools: [
            defineTool({
              name: "t",
              description: "",
              level,
              recovery,
              input: z.strictObject({}),
              execute: async () => {
                if (level === "write") effects += 1;
                return 1;
              },
            }),
          ],
        }),
      });
    await mk(s2, "read", "read")
      .run("x", { runId: "r" })
      .result.catch(() => 0);
    await mk(store, "write", "opaque")
      .advance(R)
      .catch(() => 0);
    const types = (await store.read(R)).map((e) => e.event.type);
    expect(effects === 0 || types.includes("call.started")).toBe(true);
  });
  it("arguments are checked against the schema that will run them", async () => {
    const store = createMemoryStore();
    let dead = false;
    const got: any[] = [];
    const s2 = {
      ...store,
      commit: async (c: any) => {
        if (dead) throw new Error("killed");
        const r = await store.commit(c);
        dead = c.entries.some((e: any) => e.event.type === "model.replied");
        return r;
      },
    };
    const mk = (st: any, input: any) =>
      createHarness({
        store: st,
        model: model(async (q: any) => (q.messages.length > 1 ? final("x") : calls(["pay", { cents: 100_000 }]))),
        agent: defineAgent({
          name: "t",
          revision: "1",
          instructions: "",
          rules: [OK],
          tools: [
            defineTool({
              name: "pay",
              description: "",
              level: "write",
              recovery: "keyed",
              input,
              execute: async (a: any) => {
                got.push(a);
                return 1;
              },
            }),
          ],
        }),
      });
    await mk(s2, z.strictObject({ cents: z.int() }))
      .run("x", { runId: "r" })
      .result.catch(() => 0);
    got.length = 0;
    await mk(store, z.strictObject({ cents: z.int().max(500) }))
      .advance(R)
      .catch(() => 0);
    expect(got).toEqual([]);
  });
  it("rules and tools cannot change the run's principal or arguments", async () => {
    const w = world([calls(["search", { q: "a" }]), calls(["search", { q: "b" }]), final("x")], {
      agent: {
        rules: [
          {
            id: "e",
            decide: (_c: any, x: any) => {
              try {
                x.principal.id = "admin";
              } catch {}
              try {
                x.calls[0].call.args.q = "CHANGED";
              } catch {}
              return undefined;
            },
          },
        ],
      },
    });
    const r = await w.harness.run("x", { runId: "r", principal: { kind: "customer", id: "c1" } }).result;
    expect([r.state.principal.id, (r.calls[0] as any).call.args.q]).toEqual(["c1", "a"]);
  });
});

describe("the audit verification covers the whole journal", () => {
  it.each(["message.queued", "model.replied", "budget.settled", "run.followed"])(
    "an edited %s is found",
    async (type) => {
      const f = `${mkdtempSync(join(tmpdir(), "belay-found-"))}/a.db`;
      let store = await openSqliteStore(f);
      const w = world([calls(["refund", { order: "A", cents: 5000 }]), final("done"), final("2")], {
        options: { store, budgets: { b: 1e12 }, prices: { scripted: PRICE } },
      });
      const r = await w.harness.run("x", { runId: "r", conversationId: "c" }).result;
      await w.harness.message("c", "hello", { runId: "r2" });
      await w.harness.decide({ approvalId: r.approvals[0]!.approvalId, answer: "approved", by: DANA });
      await w.harness.advance(R);
      await store.close();
      const d = new DatabaseSync(f);
      const row: any = d
        .prepare("select seq, event from journal where run_id='r' and event like ? order by seq desc limit 1")
        .get(`%"type":"${type}"%`);
      d.prepare("update journal set event=? where run_id='r' and seq=?").run(
        JSON.stringify({ ...JSON.parse(row.event), x: 1 }),
        row.seq,
      );
      d.close();
      store = await openSqliteStore(f);
      const v = await verifyStoreAudit(store);
      await store.close();
      expect(v.ok).toBe(false);
    },
  );
});
