/** A policy of four rules over a small world, and what they say about some calls. */
import assert from "node:assert/strict";
import {
  allow,
  ask,
  type CallState,
  type DecideContext,
  decideCall,
  defineRule,
  deny,
  type JsonValue,
  type Rule,
} from "belay-harness";
import { z } from "zod";

const input = z.strictObject({ order: z.string(), cents: z.int().positive() });
const orders = new Map([["A-1", { customer: "carol", leftCents: 5000 }]]);

// A rule reads the world and must not change it. What it read goes into the decision's record.
const ownOrder = defineRule({
  id: "own_order",
  tools: ["refund"],
  decide: ({ args }, { principal, read }) => {
    const { order } = input.parse(args);
    const owner = read("owner", orders.get(order)?.customer ?? null);
    return owner === principal.id ? undefined : deny("ORDER_NOT_FOUND", `there is no order ${order}`);
  },
});

// Earlier calls of the run are data too, each with its decision and its outcome.
const oneRefund = defineRule({
  id: "one_refund",
  tools: ["refund"],
  decide: (_call, { calls }) =>
    calls.some(({ call, outcome }) => call.tool === "refund" && outcome?.status === "ok")
      ? deny("REFUNDED_ALREADY", "this run has made its refund")
      : undefined,
});

const balance = defineRule({
  id: "balance",
  tools: ["refund"],
  decide: ({ args }, { read }) => {
    const { order, cents } = input.parse(args);
    const left = read("leftCents", orders.get(order)?.leftCents ?? 0);
    return cents > left ? deny("TOO_MUCH", `only ${left} cents are left`) : undefined;
  },
});

// The last rule speaks for what no rule before it denied: without an `allow`, a write is denied with NO_RULE.
const limit = defineRule({
  id: "limit",
  tools: ["refund"],
  decide: ({ args }) =>
    input.parse(args).cents > 2000 ? ask("ABOVE_LIMIT", "above 20.00") : allow("OK", "within the limit"),
});

const rules: readonly Rule[] = [ownOrder, oneRefund, balance, limit];

const context: DecideContext = {
  ...{ tenant: "default", runId: "run_1", step: 1, input: "Refund A-1", memory: [], calls: [], now: 0, recheck: false },
  principal: { kind: "customer", id: "carol" },
};

async function verdict(args: JsonValue, policy = rules, calls: DecideContext["calls"] = []): Promise<string> {
  const call = { callId: "c2.1", tool: "refund", args, level: "irreversible" } as const;
  const decision = await decideCall(policy, call, { ...context, calls });
  return `${decision.verdict} ${decision.code} (${decision.ruleId})`;
}

const refunded: CallState = {
  call: { callId: "c1.1", tool: "refund", args: { order: "A-1", cents: 500 }, effect: "change" },
  ...{ step: 1, status: "settled", attempt: 1, outcome: { status: "ok", value: { json: null } } },
};

assert.equal(await verdict({ order: "A-1", cents: 2000 }), "allow OK (limit)");
assert.equal(await verdict({ order: "A-1", cents: 2001 }), "ask ABOVE_LIMIT (limit)");
assert.equal(await verdict({ order: "A-1", cents: 5001 }), "deny TOO_MUCH (balance)");
assert.equal(await verdict({ order: "B-9", cents: 100 }), "deny ORDER_NOT_FOUND (own_order)");
assert.equal(await verdict({ order: "A-1", cents: 100 }, rules, [refunded]), "deny REFUNDED_ALREADY (one_refund)");
// No rule spoke for it.
assert.equal(await verdict({ order: "A-1", cents: 100 }, [ownOrder]), "deny NO_RULE (belay.no_rule)");
// A rule that throws (here on arguments that its schema refuses) denies.
assert.equal(await verdict({ order: "A-1" }), "deny POLICY_ERROR (own_order)");
process.stdout.write("Every verdict is as expected.\n");
