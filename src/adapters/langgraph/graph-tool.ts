import { isToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { printable } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { AnyTool, ToolContext, ToolSchema } from "../../tool/index.ts";

/** What a graph's tool does not say about itself, and Belay has to know before it runs it. */
export type GraphToolContract = Pick<AnyTool, "level" | "recovery"> &
  Partial<Pick<AnyTool, "timeoutMs" | "untrusted" | "risk" | "lookup" | "compensate">>;

/** What a tool finds as `config.configurable.belay`. */
export interface BelayCallConfig
  extends Pick<ToolContext, "runId" | "callId" | "idempotencyKey" | "attempt" | "tenant" | "principal"> {}

/**
 * Makes Belay tools of a graph's tools.
 *
 * Each tool needs a contract and each contract a tool: throws `BELAY_TOOL_CONTRACT`. The schema of a tool has to be one
 * that can describe itself (zod 4): `createHarness` throws `BELAY_TOOL_SCHEMA` for another. A tool must not interrupt
 * the graph by itself; a rule that asks does so for it.
 */
export function graphTools(
  tools: readonly StructuredToolInterface[],
  contracts: Readonly<Record<string, GraphToolContract>>,
): readonly AnyTool[] {
  const unknown = Object.keys(contracts).find((name) => tools.every((tool) => tool.name !== name));
  if (unknown !== undefined) {
    const names = tools.map(({ name }) => name).join(", ");
    throw new BelayError(
      "BELAY_TOOL_CONTRACT",
      `There is a contract for "${printable(unknown, 64)}" and no such tool in the graph. It has ${names || "none"}.`,
    );
  }
  return tools.map((tool) => graphTool(tool, Object.hasOwn(contracts, tool.name) ? contracts[tool.name] : undefined));
}

function graphTool(tool: StructuredToolInterface, contract: GraphToolContract | undefined): AnyTool {
  if (contract === undefined) {
    throw new BelayError(
      "BELAY_TOOL_CONTRACT",
      `The graph's tool "${printable(tool.name, 64)}" has no contract. Say its level and its recovery class.`,
    );
  }
  const { level, recovery, timeoutMs, untrusted, risk, lookup, compensate } = contract;
  const optional = { timeoutMs, untrusted, risk, lookup, compensate };
  return {
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    name: tool.name,
    description: tool.description,
    level,
    recovery,
    // What this schema can do is checked when the tool is registered.
    input: tool.schema as unknown as ToolSchema,
    execute: async (args: object, context: ToolContext) => {
      const { runId, callId, idempotencyKey, attempt, tenant, principal, signal } = context;
      const belay: BelayCallConfig = { runId, callId, idempotencyKey, attempt, tenant, principal };
      const result: unknown = await tool.invoke(args, { signal, configurable: { belay } });
      return isToolMessage(result as never) ? (result as { readonly content: unknown }).content : result;
    },
  };
}
