import type { EngineContext } from "./context.ts";
import type { StartOptions } from "./harness.ts";

/** Refuses options that name something unknown, and a cost limit without a price. Throws BELAY_PRICE_UNKNOWN, BELAY_TOOL_UNKNOWN, BELAY_ID_INVALID. */
export function checkStart(context: EngineContext, options: StartOptions): void {
  const { BelayError, costNanoUsd, printable } = context.kit;
  const { limits } = context.controls;
  const needsPrice = limits.costNanoUsdMax !== undefined || Object.keys(context.budgets).length > 0;
  if (needsPrice && costNanoUsd(context.prices, context.model.id, { inputTokens: 1, outputTokens: 1 }) === undefined) {
    throw new BelayError(
      "BELAY_PRICE_UNKNOWN",
      `the agent ${context.agent.name} has a cost limit and the model ${context.model.id} has no price; add it to 'prices' or remove the limit`,
    );
  }
  for (const name of options.offeredTools ?? []) {
    if (context.contracts.has(name)) continue;
    const known = [...context.contracts.keys()].join(", ");
    throw new BelayError("BELAY_TOOL_UNKNOWN", `offeredTools names '${printable(name, 64)}'; the agent has ${known}`);
  }
  for (const [what, id] of Object.entries({
    tenant: options.tenant,
    runId: options.runId,
    conversationId: options.conversationId,
  })) {
    if (id === undefined || /^[\w.:@-]{1,128}$/.test(id)) continue;
    throw new BelayError(
      "BELAY_ID_INVALID",
      `${what} '${printable(id, 64)}' must be 1 to 128 of A-Z a-z 0-9 _ . : @ -`,
    );
  }
}
