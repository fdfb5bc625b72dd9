import { decideCall } from "belay-harness";
import { shopRules } from "../apps/shop/policy/index.ts";
import { openShopWorld } from "../apps/shop/world/shop-world.ts";
import { line, medianMicroseconds, microseconds } from "./support.ts";

/** One refund judged by all rules of the shop on a SQLite world; the raw limit is the bare row that they read. */
export async function benchPolicy(): Promise<void> {
  const now = Date.now();
  const world = openShopWorld(":memory:", { now });
  const rules = shopRules(world);
  const args = { order_id: "O-1001", amount_paise: 150_000, idempotency_key: "bench-key-1" };
  const call = { callId: "c1.1", tool: "issue_refund", args, level: "irreversible" } as const;
  const context = {
    tenant: "default",
    principal: { kind: "person", id: "front-desk" },
    runId: "run",
    step: 1,
    input: "Please refund Rs 1,500 for order O-1001",
    memory: [],
    calls: [],
    now,
    recheck: false,
  } as const;
  const decision = await decideCall(rules, call, context);
  if (decision.verdict !== "allow") throw new Error(`the bench refund is ${decision.code}`);
  const value = await medianMicroseconds(1000, async () => {
    for (let i = 0; i < 1000; i += 1) await decideCall(rules, call, context);
  });
  line("policy decision of the shop (14 rules, SQLite world)", microseconds(value), "under 100 µs");
  world.close();
}
