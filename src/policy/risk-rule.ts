import type { ToolContract } from "../tool/index.ts";
import { ask, type Rule } from "./rule.ts";

/**
 * The rule that makes every call of a tool with `risk` ask a person; `undefined` when no tool has one.
 *
 * The engine puts it behind the agent's own rules, so that a person is not asked about what is denied anyway.
 */
export function riskRule(contracts: readonly ToolContract[]): Rule | undefined {
  const tools = contracts.filter((contract) => contract.risk !== undefined).map((contract) => contract.name);
  if (tools.length === 0) {
    return undefined;
  }
  return {
    id: "belay.risk",
    tools,
    decide: () => ask("MAY_HAPPEN_TWICE", "after a crash nobody can tell whether it happened, so a person decides"),
  };
}
