import { hash } from "node:crypto";
import { canonicalize, printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { Rule } from "./rule.ts";

const RESERVED: readonly string[] = ["belay.read_only", "belay.no_rule", "belay.risk"];

/**
 * Checks a policy at start-up, when a mistake can still be mended.
 *
 * Throws `BELAY_RULE_INVALID` for a rule without a usable id, `decide` or `tools`, `BELAY_RULE_DUPLICATE` for an id
 * that occurs twice and `BELAY_RULE_UNKNOWN_TOOL` for a tool that does not exist: such a rule would protect nothing.
 */
export function checkRules(rules: readonly Rule[], toolNames: readonly string[]): void {
  const ids = new Set<string>();
  for (const rule of rules) {
    checkShape(rule);
    if (ids.has(rule.id)) {
      throw new BelayError("BELAY_RULE_DUPLICATE", `Two rules have the id "${rule.id}". Rename one of them.`);
    }
    ids.add(rule.id);
    const unknown = (rule.tools ?? []).find((tool) => !toolNames.includes(tool));
    if (unknown !== undefined) {
      throw new BelayError(
        "BELAY_RULE_UNKNOWN_TOOL",
        `The rule "${rule.id}" speaks about the tool "${printable(String(unknown))}", which the agent does not have. ` +
          `Use one of: ${toolNames.join(", ") || "(none)"}.`,
      );
    }
  }
}

function checkShape(rule: Rule): void {
  const id: unknown = rule?.id;
  if (typeof id !== "string" || !/^[A-Za-z0-9_.:-]{1,64}$/.test(id) || RESERVED.includes(id)) {
    throw new BelayError(
      "BELAY_RULE_INVALID",
      `"${printable(String(id))}" cannot be the id of a rule. Use 1 to 64 ASCII letters, digits, "_", ".", ":" and ` +
        `"-", and none of ${RESERVED.join(", ")}.`,
    );
  }
  if (typeof rule.decide !== "function") {
    throw new BelayError("BELAY_RULE_INVALID", `The rule "${id}" has no decide function. Add one.`);
  }
  if (rule.tools !== undefined && (!Array.isArray(rule.tools) || rule.tools.length === 0)) {
    const message = `The rule "${id}" has no tool in its tools, so it would never be asked. Name one, or leave it out.`;
    throw new BelayError("BELAY_RULE_INVALID", message);
  }
}

/**
 * SHA-256, in hex, over the ids, tools and source texts of the rules in order; an approval pins it.
 *
 * What a rule closes over (a limit from a configuration file) is not seen: change the agent's revision with it.
 */
export function policyHash(rules: readonly Rule[]): string {
  const described = rules.map((rule) => ({
    id: rule.id,
    tools: rule.tools === undefined ? null : [...rule.tools],
    source: Function.prototype.toString.call(rule.decide).toWellFormed(),
  }));
  const canonical = canonicalize(described);
  if (!canonical.ok) {
    const message = `The rule at ${canonical.path} cannot be hashed: ${canonical.problem}. Run checkRules() first.`;
    throw new BelayError("BELAY_RULE_INVALID", message);
  }
  return hash("sha256", canonical.text);
}
