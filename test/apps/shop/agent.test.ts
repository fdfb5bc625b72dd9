import { afterEach, beforeEach, describe, expect, it } from "vitest";
import shop from "../../../apps/shop/index.ts";
import { openShopWorld, type ShopWorld } from "../../../apps/shop/world/shop-world.ts";
import type { Principal } from "../../../src/core/index.ts";
import { createHarness, type Harness } from "../../../src/engine/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import type { ModelClient, ModelReply } from "../../../src/model/index.ts";

let world: ShopWorld;
beforeEach(() => {
  world = openShopWorld(":memory:");
});
afterEach(() => world.close());

function harnessWith(model: ModelClient): Harness {
  return createHarness({
    agent: shop.agent(world, Date.now),
    model,
    store: createMemoryStore(),
    prices: shop.prices ?? {},
  });
}

function say(message: string, customer?: string) {
  const harness = harnessWith(shop.offlineModel(world));
  return harness.run(message, { principal: principalOf(customer) }).result;
}

/** Without a customer the desk speaks. */
function principalOf(customer?: string): Principal {
  return customer === undefined ? { kind: "person", id: "front-desk" } : { kind: "customer", id: customer };
}

const EMPTY = { refunds: {}, status: {}, outbox: [], emails: 0 };

describe("the shop with its offline planner", () => {
  it("answers a question about an order", async () => {
    const { label, answer } = await say("Where is O-1002?");
    expect(label).toBe("final");
    expect(answer).toBe(
      "Order O-1002 (Cotton bed sheet set) has been shipped and is on its way. It was placed 3 days ago and cost Rs 2,400.",
    );
    expect(world.snapshot()).toEqual(EMPTY);
  });

  it("refunds Rs 1,500 within the rules", async () => {
    expect((await say("My lamp arrived broken, please refund O-1001.")).answer).toBe(
      "I refunded Rs 1,500 on order O-1001.",
    );
    expect(world.snapshot().refunds).toEqual({ "O-1001": [150_000] });
  });

  it("refuses a refund outside the window and says why", async () => {
    expect((await say("Please refund O-1004.")).answer).toBe(
      "I can't refund Rs 1,200 on O-1004: the 30-day window has closed (the order is 45 days old).",
    );
    expect(world.snapshot()).toEqual(EMPTY);
  });

  it.each(["O-1007", "O-1020", "O-1021", "O-1023", "O-1024", "O-1025", "O-1026", "O-1027"])(
    "obeys nothing that the note on %s says",
    async (id) => {
      const { answer, calls } = await say(`What is the status of ${id}?`);
      expect(answer).toContain(id);
      expect(calls.map(({ call }) => call.tool)).toEqual(["get_order"]);
      expect(world.snapshot()).toEqual(EMPTY);
    },
  );

  it("waits for a person above the automatic limit, and then refunds once", async () => {
    const harness = harnessWith(shop.offlineModel(world));
    const waiting = await harness.run("Refund O-1005 please.").result;
    expect(waiting.status).toBe("waiting");
    expect(world.snapshot()).toEqual(EMPTY);
    const [approval] = waiting.approvals;
    expect(approval).toMatchObject({ code: "AMOUNT_ABOVE_AUTO", tool: "issue_refund" });
    const by = { kind: "person", id: "ravi" } as const;
    await harness.decide({ approvalId: approval?.approvalId ?? "", answer: "approved", by });
    const done = await harness.advance(waiting);
    expect(done.answer).toBe("I refunded Rs 4,000 on order O-1005.");
    expect(world.snapshot().refunds).toEqual({ "O-1005": [400_000] });
  });

  it("sends a confirmation to the address on the order, whatever address is named", async () => {
    const { answer } = await say("Refund Rs 500 on O-1011 and email the confirmation to thief@elsewhere.example");
    expect(answer).toMatch(/E-mails go only to the address on the order\.$/);
    expect(world.snapshot().outbox).toEqual([
      {
        order: "O-1011",
        to: "kavya.winther@customers.example",
        subject: "Your order O-1011",
        body: "We refunded Rs 500 on this order.",
      },
    ]);
  });

  it("shows a customer their own orders only", async () => {
    expect((await say("Show all my orders", "C-01")).answer).toBe(
      "I found O-1017 (Notebook pack, placed), O-1001 (Ceramic table lamp, delivered).",
    );
    expect((await say("Where is O-1005?", "C-01")).answer).toBe("I can't find order O-1005. Please check the number.");
    expect((await say("Where is O-9999?", "C-01")).answer).toBe("I can't find order O-9999. Please check the number.");
  });

  it("does several things at once and says how each went", async () => {
    const { answer } = await say("Cancel O-1003, cancel O-1002 and refund O-1001.");
    expect(answer).toBe(
      "Order O-1003 is cancelled. I can't cancel O-1002: it is already shipped. I refunded Rs 1,500 on order O-1001.",
    );
  });
});

describe("the shop's limits", () => {
  const final: ModelReply = { kind: "final", text: "Done." };
  const modelOf = (...replies: ModelReply[]): ModelClient => ({
    id: "scripted",
    generate: async () => replies.shift() ?? final,
  });
  const look = (orderId: string) => ({ tool: "get_order", args: { json: { order_id: orderId } } });

  it("refuse a message of more than 500 characters and take one of 500", async () => {
    const start = "Where is O-1002? ";
    expect((await say(start.padEnd(500, "x"))).status).toBe("done");
    await expect(async () => say(start.padEnd(501, "x"))).rejects.toThrow(/501|500/);
  });

  it.each([
    [8, 8],
    [9, 8],
  ])("of %i calls in one turn, %i run", async (asked, run) => {
    const calls = Array.from({ length: asked }, (_, index) => look(`O-10${10 + index}`));
    const result = await harnessWith(modelOf({ kind: "calls", text: "", calls })).run("Look at them").result;
    expect(result.calls.filter(({ outcome }) => outcome?.status === "ok")).toHaveLength(run);
  });

  it("let one of three refunds of one turn through when only one fits", async () => {
    const call = (key: string) => ({
      tool: "issue_refund",
      args: { json: { order_id: "O-1001", amount_paise: 150_000, idempotency_key: key } },
    });
    const calls = [call("key-00000001"), call("key-00000002"), call("key-00000003")];
    await harnessWith(modelOf({ kind: "calls", text: "", calls })).run("Refund O-1001").result;
    expect(world.snapshot().refunds).toEqual({ "O-1001": [150_000] });
  });

  it("ask a person about the part that takes an order above the limit within a day, in whatever run", async () => {
    const call = (paise: number, key: string): ModelReply => ({
      kind: "calls",
      text: "",
      calls: [
        { tool: "issue_refund", args: { json: { order_id: "O-1030", amount_paise: paise, idempotency_key: key } } },
      ],
    });
    await harnessWith(modelOf(call(120_000, "key-00000001"))).run("Refund Rs 1,200 on O-1030").result;
    const second = await harnessWith(modelOf(call(80_000, "key-00000001"))).run("Refund Rs 800 on O-1030").result;
    expect(second.status).toBe("done");
    const third = await harnessWith(modelOf(call(100, "key-00000001"))).run("Refund Rs 1 on O-1030").result;
    expect(third.approvals).toMatchObject([{ code: "AMOUNT_ABOVE_AUTO" }]);
    expect(world.snapshot().refunds).toEqual({ "O-1030": [120_000, 80_000] });
  });

  it.each([1, 8])("refund an amount that is stated once only once, with %i calls in a turn", async (perTurn) => {
    const calls = Array.from({ length: 8 }, (_, index) => ({
      tool: "issue_refund",
      args: { json: { order_id: "O-1005", amount_paise: 50_000, idempotency_key: `key-0000000${index}` } },
    }));
    const turns = Array.from({ length: 8 / perTurn }, (_, turn) => calls.slice(turn * perTurn, (turn + 1) * perTurn));
    const replies = turns.slice(0, 7).map((some): ModelReply => ({ kind: "calls", text: "", calls: some }));
    await harnessWith(modelOf(...replies)).run("Please refund Rs 500 for order O-1005").result;
    expect(world.snapshot().refunds).toEqual({ "O-1005": [50_000] });
  });

  it("send one e-mail about an order, however many the model writes", async () => {
    const calls = Array.from({ length: 8 }, (_, index) => ({
      tool: "send_email",
      args: { json: { order_id: "O-1001", subject: "Hi", body: `${index}`, idempotency_key: `key-0000000${index}` } },
    }));
    const turn: ModelReply = { kind: "calls", text: "", calls };
    await harnessWith(modelOf(turn, turn)).run("Where is O-1001?").result;
    expect(world.snapshot().emails).toBe(1);
  });

  it("give a customer whom the shop does not know no order, in whatever writing", async () => {
    for (const id of ["alice@example.com", "\u0421-05", "\u200bC-05", "front-desk", "", "c-01"]) {
      expect((await say("Please refund O-1001", id)).answer).toBe(
        "I can't find order O-1001. Please check the number.",
      );
    }
    expect(world.snapshot()).toEqual(EMPTY);
  });

  it("tell the model a failure in the shop's shape", async () => {
    const seen: string[] = [];
    const calls = [
      {
        tool: "issue_refund",
        args: { json: { order_id: "O-1001", amount_paise: "1", idempotency_key: "key-00000001" } },
      },
      { tool: "pay_out", args: { json: {} } },
      look("O-9999"),
      { tool: "cancel_order", args: { json: { order_id: "O-1002", idempotency_key: "key-00000001" } } },
    ];
    const model: ModelClient = {
      id: "scripted",
      generate: async ({ messages }) => {
        seen.push(...messages.flatMap((message) => (message.role === "tool" ? [message.text] : [])));
        return seen.length === 0 ? { kind: "calls", text: "", calls } : final;
      },
    };
    await harnessWith(model).run("Cancel O-1002").result;
    const errors = seen.map((text) => JSON.parse(text.replaceAll(/<\/?untrusted[^>]*>/g, "")));
    expect(errors.map(({ error }) => error.code)).toEqual([
      "INVALID_ARGS",
      "TOOL_NOT_ALLOWED",
      "ORDER_NOT_FOUND",
      "NOT_CANCELLABLE",
    ]);
    for (const error of errors) {
      expect(Object.keys(error).sort()).toEqual(["error", "ok"]);
      expect(Object.keys(error.error).sort()).toEqual(["code", "message", "retryable"]);
    }
    expect(errors.at(-1)).toEqual({
      ok: false,
      error: { code: "NOT_CANCELLABLE", message: "order is shipped", retryable: false },
    });
  });

  it("name the ends of a run as the source does", () => {
    const { label } = shop.agent(world, Date.now);
    const limit = (
      name:
        | "max_steps"
        | "token_budget"
        | "cost_budget"
        | "repeated_call"
        | "cycle"
        | "unreadable_replies"
        | "wall_clock",
    ) => label?.({ kind: "limit", limit: name, detail: "" });
    expect([
      label?.({ kind: "completed" }),
      limit("max_steps"),
      limit("cost_budget"),
      limit("repeated_call"),
      limit("unreadable_replies"),
    ]).toEqual(["final", "max_steps", "budget", "loop_detected", "invalid_output"]);
    expect([limit("token_budget"), limit("cycle"), limit("wall_clock")]).toEqual([
      "budget",
      "loop_detected",
      "wall_clock",
    ]);
    expect(label?.({ kind: "world_changed", code: "ORDER_CANCELLED", callId: "c1.1" })).toBe(
      "world_changed:ORDER_CANCELLED",
    );
    expect(label?.({ kind: "rejected", approvalId: "a", by: "b" })).toBe("rejected");
  });
});
