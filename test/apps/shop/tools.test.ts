import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { shopTools } from "../../../apps/shop/tools/index.ts";
import { openShopWorld, type ShopWorld } from "../../../apps/shop/world/shop-world.ts";
import { isToolFailure, type ToolContext } from "../../../src/tool/index.ts";

const NOW = Date.UTC(2026, 5, 15, 12);
let world: ShopWorld;
let made = 0;
beforeEach(() => {
  world = openShopWorld(":memory:", { now: NOW });
});
afterEach(() => world.close());

function context(more: Partial<ToolContext> = {}): ToolContext {
  made += 1;
  return {
    runId: "run_1",
    tenant: "default",
    principal: { kind: "person", id: "front-desk" },
    callId: `c1.${made}`,
    idempotencyKey: `call-key-${made}`,
    attempt: 1,
    now: NOW,
    signal: new AbortController().signal,
    ...more,
  };
}

function toolOf(name: string) {
  const tool = shopTools(world).find((one) => one.name === name);
  if (tool === undefined) {
    throw new Error(`no tool ${name}`);
  }
  return tool;
}

/** The value, or the code of the failure. */
function use(name: string, args: Readonly<Record<string, unknown>>, more?: Partial<ToolContext>): unknown {
  const result = toolOf(name).execute(args, context(more));
  return isToolFailure(result) ? { ok: false, ...result.error } : result;
}

const refund = (amount_paise: number, idempotency_key = "key-00000001", order_id = "O-1011") => ({
  order_id,
  amount_paise,
  idempotency_key,
});

describe("the tools", () => {
  it("are five, and the three that change something run in the world's transaction", () => {
    const tools = shopTools(world);
    expect(tools.map(({ name }) => name)).toEqual([
      "get_order",
      "search_orders",
      "issue_refund",
      "cancel_order",
      "send_email",
    ]);
    expect(tools.filter(({ inTransaction }) => inTransaction).map(({ level, recovery }) => [level, recovery])).toEqual([
      ["irreversible", "keyed"],
      ["write", "keyed"],
      ["irreversible", "keyed"],
    ]);
    expect(tools.filter(({ untrusted }) => untrusted).map(({ name }) => name)).toEqual(["get_order", "search_orders"]);
  });

  it("tell a missing order", () => {
    const missing = { ok: false, code: "ORDER_NOT_FOUND", message: "there is no order O-9999", retryable: false };
    const key = { order_id: "O-9999", idempotency_key: "key-00000001" };
    expect(use("get_order", { order_id: "O-9999" })).toEqual(missing);
    expect(use("issue_refund", refund(100, "key-00000001", "O-9999"))).toEqual(missing);
    expect(use("cancel_order", key)).toEqual(missing);
    expect(use("send_email", { ...key, subject: "a", body: "b" })).toEqual(missing);
  });

  it("fail once in a single outage and leave nothing behind", () => {
    for (const [name, args] of [
      ["get_order", { order_id: "O-1001" }],
      ["issue_refund", refund(50_000)],
    ] as const) {
      world.failNext(name, 1);
      expect(use(name, args)).toMatchObject({ code: "SERVICE_UNAVAILABLE", retryable: true });
      expect(use(name, args)).toMatchObject({ ok: true });
    }
    expect(world.snapshot().refunds).toEqual({ "O-1011": [50_000] });
  });

  it("give neither name nor address of a customer to the model", () => {
    const shown = JSON.stringify([
      use("get_order", { order_id: "O-1001" }),
      use("search_orders", { query: "" }),
      use("send_email", { order_id: "O-1001", subject: "a", body: "b", idempotency_key: "key-00000001" }),
    ]);
    expect(shown).not.toMatch(/asha|menon|@|C-01/i);
  });

  it("tell the age and what is left of an order", () => {
    expect(use("get_order", { order_id: "O-1015" })).toMatchObject({
      order: { age_days: 12, total_paise: 300_000, refunded_paise: 100_000, remaining_paise: 200_000 },
    });
  });

  it("search only among a customer's own orders", () => {
    const found = (id: string) => use("search_orders", { query: "" }, { principal: { kind: "customer", id } });
    expect(found("C-01")).toMatchObject({ orders: [{ order_id: "O-1017" }, { order_id: "O-1001" }] });
    expect(found("C-99")).toEqual({ ok: true, orders: [] });
    expect(found("front-desk")).toEqual({ ok: true, orders: [] });
    expect(use("search_orders", { query: "" })).toMatchObject({ orders: { length: 10 } });
  });
});

describe("an e-mail", () => {
  it("goes to the address on the order, and there is no argument for another", () => {
    use("send_email", { order_id: "O-1001", subject: "Hello", body: "Text", idempotency_key: "key-00000001" });
    expect(world.snapshot().outbox).toEqual([
      { order: "O-1001", to: "asha.menon@customers.example", subject: "Hello", body: "Text" },
    ]);
    const schema = JSON.stringify(
      toolOf("send_email").input["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
    );
    expect(Object.keys(JSON.parse(schema).properties)).toEqual(["order_id", "subject", "body", "idempotency_key"]);
    expect(JSON.parse(schema).additionalProperties).toBe(false);
  });
});

describe("a write", () => {
  it("happens once under a key and then gives its first result again", () => {
    const first = use("issue_refund", refund(50_000));
    expect(first).toEqual({ ok: true, order_id: "O-1011", refunded_paise: 50_000, remaining_paise: 270_000 });
    expect(use("issue_refund", refund(50_000))).toEqual({ ...(first as object), replayed: true });
    expect(world.snapshot().refunds).toEqual({ "O-1011": [50_000] });
  });

  it("conflicts when the key comes with other arguments", () => {
    use("issue_refund", refund(50_000));
    for (const other of [
      refund(60_000),
      { ...refund(50_000), reason: "broken" },
      refund(50_000, "key-00000001", "O-1001"),
    ]) {
      expect(use("issue_refund", other)).toMatchObject({ code: "IDEMPOTENCY_CONFLICT", retryable: false });
    }
    expect(world.snapshot().refunds).toEqual({ "O-1011": [50_000] });
  });

  it("counts its key within one run, tool and tenant", () => {
    use("issue_refund", refund(50_000));
    expect(use("issue_refund", refund(50_000), { runId: "run_2" })).not.toHaveProperty("replayed");
    expect(use("issue_refund", refund(50_000), { tenant: "other" })).not.toHaveProperty("replayed");
    const cancel = { order_id: "O-1003", idempotency_key: "key-00000001" };
    expect(use("cancel_order", cancel)).toEqual({ ok: true, order_id: "O-1003", status: "cancelled" });
    expect(world.snapshot().refunds).toEqual({ "O-1011": [50_000, 50_000, 50_000] });
  });

  it("is found by the harness's key after a crash, and repeating the call repeats nothing", () => {
    const call = { idempotencyKey: "harness-key" };
    const args = refund(50_000);
    const { lookup } = toolOf("issue_refund");
    expect(lookup?.(args, context(call))).toBeUndefined();
    const first = use("issue_refund", args, call);
    expect(lookup?.(args, context(call))).toEqual(first);
    expect(use("issue_refund", args, { ...call, attempt: 2 })).toEqual(first);
    const replay = { idempotencyKey: "second-call" };
    const replayed = use("issue_refund", args, replay);
    expect(lookup?.(args, context(replay))).toEqual(replayed);
    expect(world.snapshot().refunds).toEqual({ "O-1011": [50_000] });
  });

  it("leaves its key free when it failed", () => {
    expect(use("issue_refund", refund(320_001))).toMatchObject({ code: "AMOUNT_EXCEEDS_REMAINING" });
    expect(use("issue_refund", refund(320_000))).toMatchObject({ ok: true });
  });

  it("is refused by the order's state even when nobody asked the rules", () => {
    const key = { idempotency_key: "key-00000001" };
    expect(use("issue_refund", refund(100, "key-00000001", "O-1006"))).toMatchObject({ code: "ORDER_CANCELLED" });
    expect(use("cancel_order", { order_id: "O-1002", ...key })).toMatchObject({
      code: "NOT_CANCELLABLE",
      message: "order is shipped",
    });
    expect(use("cancel_order", { order_id: "O-1006", ...key })).toMatchObject({ code: "NOT_CANCELLABLE" });
  });
});

describe("arguments", () => {
  const accepts = (name: string, args: unknown) => {
    const checked = toolOf(name).input["~standard"].validate(args);
    return "issues" in checked ? checked.issues === undefined : true;
  };

  it.each([7, 8, 64, 65])("a key of %i characters", (length) => {
    expect(accepts("issue_refund", refund(1, "k".repeat(length)))).toBe(length >= 8 && length <= 64);
  });

  it.each(["O-1001", "o-1001", "O-100", "O-10011", "O-1001\n", " O-1001", "O-١٠٠١", "X-1001"])(
    "order %j",
    (order_id) => {
      expect(accepts("get_order", { order_id })).toBe(order_id === "O-1001");
    },
  );

  it.each<unknown>(["200000", true, -1, 0, 1.5, Number.NaN, 2 ** 53, null])("amount %s is refused", (amount_paise) => {
    expect(accepts("issue_refund", { ...refund(1), amount_paise })).toBe(false);
  });

  it("refuses fields that are not declared, and a subject of two lines", () => {
    expect(accepts("issue_refund", { ...refund(1), account: "1" })).toBe(false);
    const email = { order_id: "O-1001", subject: "Hi", body: "Text", idempotency_key: "key-00000001" };
    expect(accepts("send_email", email)).toBe(true);
    expect(accepts("send_email", { ...email, to: "me@elsewhere.example" })).toBe(false);
    for (const subject of ["a\nBcc: x@y.example", "a\rb", "a\u2028b", ""]) {
      expect(accepts("send_email", { ...email, subject })).toBe(false);
    }
  });
});
