import type { CallState, RuleCall, RuleContext } from "belay-harness";
import type { ShopWorld } from "../world/shop-world.ts";
import { textArg } from "./facts.ts";

/** True when the key has done its work in this run: the tool will give the first result again and change nothing. */
export function isReplay(world: ShopWorld, call: RuleCall, { tenant, runId }: RuleContext): boolean {
  const key = textArg(call, "idempotency_key");
  return world.writeByKey({ tenant, runId, tool: call.tool, key }) !== undefined;
}

const OPEN: ReadonlySet<CallState["status"]> = new Set(["asked", "waiting", "approved", "allowed", "started"]);

/** Calls of this run to the same tool about the same order that may still have their effect, without repeats by key. */
export function openCalls(call: RuleCall, { calls }: RuleContext): readonly RuleCall[] {
  const seen = new Set([textArg(call, "idempotency_key")]);
  return calls.flatMap(({ call: other, status }) => {
    const asked: RuleCall = { ...other, level: call.level };
    const key = textArg(asked, "idempotency_key");
    const isOther = OPEN.has(status) && other.tool === call.tool && !seen.has(key);
    if (!isOther || textArg(asked, "order_id") !== textArg(call, "order_id")) {
      return [];
    }
    seen.add(key);
    return [asked];
  });
}
