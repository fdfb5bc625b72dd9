import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shopRules } from "../../../apps/shop/policy/index.ts";
import { DAY_MS } from "../../../apps/shop/world/seed.ts";
import { openShopWorld, type ShopWorld } from "../../../apps/shop/world/shop-world.ts";
import type { CallState, JsonValue } from "../../../src/core/index.ts";
import { decideCallSync } from "../../../src/policy/index.ts";

const NOW = Date.UTC(2026, 5, 15, 12);
let world: ShopWorld;
beforeEach(() => {
  world = openShopWorld(":memory:", { now: NOW });
});
afterEach(() => world.close());

interface Ask {
  readonly tool?: string;
  readonly input: string;
  readonly args: { readonly [name: string]: JsonValue };
  readonly customer?: string;
  readonly calls?: readonly CallState[];
  readonly now?: number;
}

function decide({ tool = "issue_refund", input, args, customer, calls = [], now = NOW }: Ask) {
  const level = tool.startsWith("get") || tool.startsWith("search") ? "read" : "irreversible";
  return decideCallSync(
    shopRules(world),
    { callId: "c1.1", tool, args, level },
    {
      tenant: "default",
      principal: customer === undefined ? { kind: "person", id: "front-desk" } : { kind: "customer", id: customer },
      runId: "run_1",
      step: 1,
      input,
      memory: [{ user: "refund Rs 300 on O-1011", assistant: "Order O-1001 is yours." }],
      calls,
      now,
      recheck: false,
    },
  );
}

const refund = (order_id: string, amount_paise: number) => ({ order_id, amount_paise });

describe("amounts", () => {
  it.each([
    [199_999, "AMOUNT_NOT_CONFIRMED_BY_USER"],
    [200_000, "OK"],
    [200_001, "AMOUNT_EXCEEDS_REMAINING"],
  ])("%i paise of the 200,000 left on O-1015 is %s", (paise, code) => {
    expect(decide({ input: "refund Rs 2,000 on O-1015", args: refund("O-1015", paise) }).code).toBe(code);
  });

  it.each([
    ["Rs 1,999", 199_900, "OK", "allow"],
    ["Rs 2,000", 200_000, "OK", "allow"],
    ["Rs 2,001", 200_100, "AMOUNT_ABOVE_AUTO", "ask"],
  ])("%s of a larger order is %s", (text, paise, code, verdict) => {
    const decision = decide({ input: `refund ${text} on O-1030`, args: refund("O-1030", paise) });
    expect(decision).toMatchObject({ code, verdict });
  });

  it("asks for one paisa above the limit when it is all that is left", () => {
    world.insertRefund({ orderId: "O-1030", amountPaise: 1_000_000 - 200_001, at: NOW });
    expect(decide({ input: "refund O-1030", args: refund("O-1030", 200_001) }).verdict).toBe("ask");
    world.insertRefund({ orderId: "O-1030", amountPaise: 1, at: NOW });
    expect(decide({ input: "refund O-1030", args: refund("O-1030", 200_000) }).verdict).toBe("allow");
  });

  it("never lets more than the remaining amount through, whatever is asked for", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), (paise) => {
        const { verdict } = decide({
          input: `refund Rs ${paise / 100} on O-1015, refund it in full`,
          args: refund("O-1015", paise),
        });
        return verdict === "deny" || paise <= 200_000;
      }),
    );
  });
});

describe("several refunds of one order", () => {
  const key = (idempotency_key: string, amount_paise: number, order_id = "O-1030") => ({
    ...refund(order_id, amount_paise),
    idempotency_key,
  });
  const open = (status: CallState["status"], args: JsonValue): CallState => ({
    call: { callId: "c1.0", tool: "issue_refund", args, effect: "change" },
    step: 1,
    status,
    attempt: 0,
  });
  const paid = (amountPaise: number, runId: string, at = NOW) =>
    world.insertRefund({ orderId: "O-1030", amountPaise, runId, at });

  it.each([
    [200_000, 100, "ask"],
    [199_900, 100, "allow"],
  ])("%i paise paid by another run and %i more: %s", (before, more, verdict) => {
    paid(before, "run_0");
    expect(decide({ input: "refund Rs 1 on O-1030", args: key("key-1", more) }).verdict).toBe(verdict);
  });

  it("do not count after a day, nor when staff made them, nor on another order", () => {
    paid(200_000, "run_0", NOW - DAY_MS);
    world.insertRefund({ orderId: "O-1030", amountPaise: 200_000, at: NOW });
    world.insertRefund({ orderId: "O-1005", amountPaise: 200_000, runId: "run_0", at: NOW });
    expect(decide({ input: "refund Rs 1,500 on O-1030", args: key("key-1", 150_000) }).verdict).toBe("allow");
    paid(100, "run_0", NOW - DAY_MS + 1);
    expect(decide({ input: "refund Rs 2,000 on O-1030", args: key("key-1", 200_000) }).verdict).toBe("ask");
  });

  it.each<[CallState["status"], string]>([
    ["waiting", "AMOUNT_ABOVE_AUTO"],
    ["asked", "AMOUNT_ABOVE_AUTO"],
    ["approved", "AMOUNT_ABOVE_AUTO"],
    ["started", "AMOUNT_ABOVE_AUTO"],
    ["settled", "OK"],
    ["requested", "OK"],
  ])("count one that is %s: %s", (status, code) => {
    const calls = [open(status, key("key-0", 200_000))];
    expect(decide({ input: "refund Rs 1 on O-1030", args: key("key-1", 100), calls }).code).toBe(code);
    expect(decide({ input: "refund Rs 1 on O-1030", args: key("key-0", 100), calls }).code).toBe("OK");
  });

  it("need an amount of their own in one run", () => {
    paid(50_000, "run_1");
    const second = (paise: number) =>
      decide({ input: "Refund Rs 500 on O-1030. Refund Rs 600 on O-1030.", args: key("key-1", paise) }).code;
    expect(second(50_000)).toBe("AMOUNT_NOT_CONFIRMED_BY_USER");
    expect(second(60_000)).toBe("OK");
    expect(second(950_000)).toBe("AMOUNT_NOT_CONFIRMED_BY_USER");
  });

  it("are not all of an order where the customer asked for a part", () => {
    expect(decide({ input: "refund Rs 500 on O-1001", args: refund("O-1001", 150_000) }).code).toBe(
      "AMOUNT_NOT_CONFIRMED_BY_USER",
    );
    expect(decide({ input: "refund half of O-1001", args: refund("O-1001", 150_000) }).code).toBe(
      "AMOUNT_NOT_CONFIRMED_BY_USER",
    );
    expect(decide({ input: "refund Rs 1,500 on O-1001", args: refund("O-1001", 150_000) }).code).toBe("OK");
  });
});

describe("the refund window", () => {
  it.each([
    ["29 days", 29 * DAY_MS, "OK"],
    ["30 days", 30 * DAY_MS, "OK"],
    ["31 days less a millisecond", 31 * DAY_MS - 1, "OK"],
    ["31 days", 31 * DAY_MS, "REFUND_WINDOW_CLOSED"],
  ])("an order of %s is %s", (_name, ageMs, code) => {
    const placedAt = world.order("O-1017")?.placedAt ?? 0;
    expect(decide({ input: "refund O-1017", args: refund("O-1017", 64_000), now: placedAt + ageMs }).code).toBe(code);
  });
});

describe("reasons", () => {
  it.each<[Ask, string]>([
    [
      { input: "refund it", args: refund("O-1001", 150_000) },
      "the user did not name order O-1001 in their own message",
    ],
    [{ tool: "cancel_order", input: "cancel O-1002", args: { order_id: "O-1002" } }, "order is shipped"],
    [{ tool: "cancel_order", input: "cancel O-1003", args: { order_id: "O-1003" } }, "placed order"],
    [{ input: "refund O-1010", args: refund("O-1010", 200_100) }, "above the automatic limit of Rs 2,000"],
    [{ input: "refund O-1001", args: refund("O-1001", 150_000) }, "within the automatic limit"],
    [
      { tool: "send_email", input: "mail me O-1001", args: { order_id: "O-1001" } },
      "e-mail goes to the address on the order",
    ],
    [{ tool: "get_order", input: "hi", args: { order_id: "O-1001" } }, "read-only"],
  ])("of %o", (ask, reason) => {
    expect(decide(ask).reason).toBe(reason);
  });

  it("come with what the rule read", () => {
    const { reads } = decide({ input: "refund O-1014", args: refund("O-1014", 125_000) });
    expect(reads).toEqual({
      order: { id: "O-1014", customer: "C-12", status: "delivered", ageDays: 31, remainingPaise: 125_000 },
    });
  });
});

describe("other people's orders", () => {
  it("are decided in the very words for an order that does not exist", () => {
    for (const tool of ["issue_refund", "cancel_order", "send_email"]) {
      const other = decide({ tool, input: "refund and cancel O-1005", args: refund("O-1005", 1), customer: "C-01" });
      const missing = decide({ tool, input: "refund and cancel O-9999", args: refund("O-9999", 1), customer: "C-01" });
      expect(other.code).toBe("ORDER_NOT_FOUND");
      expect(other.reason.replace("O-1005", "O-9999")).toBe(missing.reason);
    }
  });

  it("stay hidden from readers and from customers that the shop does not know", () => {
    expect(decide({ tool: "get_order", input: "", args: { order_id: "O-1005" }, customer: "C-01" }).verdict).toBe(
      "deny",
    );
    expect(decide({ tool: "get_order", input: "", args: { order_id: "O-1001" }, customer: "C-01" }).verdict).toBe(
      "allow",
    );
    for (const customer of [
      "C-99",
      "c-01",
      " C-01",
      "front-desk",
      "alice@example.com",
      "\u0421-01",
      "\u200bC-01",
      "",
    ]) {
      expect(decide({ tool: "get_order", input: "", args: { order_id: "O-1001" }, customer }).verdict).toBe("deny");
    }
  });

  it("cannot be told from missing ones when they are not named", () => {
    for (const orderId of ["O-1005", "O-9999"]) {
      expect(decide({ input: "refund it", args: refund(orderId, 1), customer: "C-01" }).code).toBe(
        "NOT_CONFIRMED_BY_USER",
      );
    }
  });
});

it("takes neither order numbers nor amounts nor requests from memory", () => {
  expect(decide({ input: "refund it", args: refund("O-1001", 150_000) }).code).toBe("NOT_CONFIRMED_BY_USER");
  expect(decide({ input: "refund part of O-1011", args: refund("O-1011", 30_000) }).code).toBe(
    "AMOUNT_NOT_CONFIRMED_BY_USER",
  );
  expect(decide({ input: "and O-1001?", args: refund("O-1001", 150_000) }).code).toBe("NOT_REQUESTED_BY_CUSTOMER");
});
