import { createHash } from "node:crypto";
import { canonicalize, isToolFailure, type ToolContext, type ToolFailure, toolFailure } from "belay-harness";
import type { ShopWorld } from "../world/shop-world.ts";
import type { WriteResult } from "../world/write-ledger.ts";
import { serviceUnavailable } from "./failures.ts";

interface KeyedArgs {
  readonly idempotency_key: string;
}

/**
 * Does a write at most once, in one transaction with the record that it happened.
 *
 * A repeat of the same call (the harness's key) gives its result again. A new call with a key that the model has used
 * for the same tool in this run gives the first result with `replayed: true`, or `IDEMPOTENCY_CONFLICT` when its other
 * arguments differ. A failure leaves nothing behind, so the key may be used again.
 */
export function keyedWrite<Args extends KeyedArgs>(
  world: ShopWorld,
  tool: string,
  args: Args,
  context: ToolContext,
  act: () => WriteResult | ToolFailure,
): WriteResult | ToolFailure {
  return world.transaction(() => {
    const settled = world.settledCall(context.idempotencyKey);
    if (settled !== undefined) {
      return settled;
    }
    const scope = { tenant: context.tenant, runId: context.runId, tool, key: args.idempotency_key };
    const argsHash = hashOf(args);
    const first = world.writeByKey(scope);
    if (first !== undefined) {
      return first.argsHash === argsHash
        ? settle(world, context, { ...first.result, replayed: true })
        : toolFailure(
            "IDEMPOTENCY_CONFLICT",
            `the key ${args.idempotency_key} was used for ${tool} with other arguments; use a new key for a new action`,
          );
    }
    if (world.takeFailure(tool)) {
      return serviceUnavailable(tool);
    }
    const result = act();
    if (isToolFailure(result)) {
      return result;
    }
    world.recordKey(scope, argsHash, result);
    return settle(world, context, result);
  });
}

function settle(world: ShopWorld, context: ToolContext, result: WriteResult): WriteResult {
  world.recordCall(context.idempotencyKey, result);
  return result;
}

function hashOf(args: KeyedArgs): string {
  const canonical = canonicalize(args);
  if (!canonical.ok) {
    throw new TypeError(`arguments that passed their schema are no JSON at ${canonical.path}: ${canonical.problem}`);
  }
  return createHash("sha256").update(canonical.text).digest("hex");
}
