import type { RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { StartOptions } from "./harness.ts";

/** The one turn of a run that asks no model, prepared as a model's reply would be. */
export async function givenCalls(
  context: EngineContext,
  { calls: requested, offeredTools }: StartOptions,
): Promise<readonly RunEvent[]> {
  if (requested === undefined) return [];
  const calls = await context.kit.prepareCalls(context, 1, offeredTools, requested);
  const none = { inputTokens: 0, outputTokens: 0 };
  return [
    { type: "model.requested", reserved: { ...none, costNanoUsd: 0 } },
    { type: "model.replied", output: { kind: "calls", text: "", calls }, usage: none, costNanoUsd: 0 },
  ];
}
