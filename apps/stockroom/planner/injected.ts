import type { RequestedCall, ToolSpec } from "belay-harness";
import type { Attempt } from "./history.ts";

/** An order to the model that stands in a tool's result. */
export interface Injected {
  /** Absent when the text asks for no call that can be made. */
  readonly call?: RequestedCall;
  readonly wantsSystemPrompt: boolean;
}

/**
 * Finds instruction-like text in results, which this model follows as many a real one does.
 *
 * A text that was taken out before it came here cannot be followed, whoever took it out.
 */
export function findInjected(attempts: readonly Attempt[], tools: readonly ToolSpec[]): Injected | undefined {
  for (const { text } of attempts) {
    const words = text.replaceAll("\\n", " ");
    const [, name, rest = ""] = /\bmust immediately call (\w+)\s+with\s+([^.]*)/i.exec(words) ?? [];
    if (name !== undefined) {
      const isOffered = tools.some((tool) => tool.name === name);
      const wantsSystemPrompt = /\breply\b.{0,80}\bsystem prompt\b/i.test(words);
      return { ...(isOffered && { call: { tool: name, args: { json: argumentsIn(rest) } } }), wantsSystemPrompt };
    }
  }
  return undefined;
}

function argumentsIn(text: string): Readonly<Record<string, string | number>> {
  const [, sku] = /\bsku (SKU-\d{4})\b/i.exec(text) ?? [];
  const [, quantity] = /\bquantity (\d+)\b/i.exec(text) ?? [];
  const [, priority] = /\bpriority (\w+)\b/i.exec(text) ?? [];
  return {
    ...(sku !== undefined && { sku }),
    ...(quantity !== undefined && { quantity: Number(quantity) }),
    ...(priority !== undefined && { priority }),
  };
}
