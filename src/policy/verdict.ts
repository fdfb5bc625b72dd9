import type { Decision } from "../core/index.ts";
import type { Verdict } from "./rule.ts";

/** A reason is stored with each decision and shown to people, so it is cut to this. */
export const REASON_CHARACTERS_MAX: number = 2000;
const CODE_CHARACTERS_MAX = 100;

const KINDS: readonly string[] = ["allow", "deny", "ask", "halt"];

/**
 * Copies a verdict when a value is exactly one; anything else, also one with an extra key or a getter, is `undefined`.
 *
 * May throw for a Proxy; callers fail closed then.
 */
export function readVerdict(value: unknown): Verdict | undefined {
  if (typeof value !== "object" || value === null || Reflect.ownKeys(value).length !== 3) {
    return undefined;
  }
  const verdict = dataProperty(value, "verdict");
  const code = dataProperty(value, "code");
  const reason = dataProperty(value, "reason");
  if (verdict === undefined || !KINDS.includes(verdict) || code === undefined || code === "" || reason === undefined) {
    return undefined;
  }
  // Audit records are UTF-8, which has no place for half a surrogate pair.
  return {
    verdict: verdict as Verdict["verdict"],
    code: code.slice(0, CODE_CHARACTERS_MAX).toWellFormed(),
    reason: reason.slice(0, REASON_CHARACTERS_MAX).toWellFormed(),
  };
}

function dataProperty(object: object, key: string): string | undefined {
  const value: unknown = Object.getOwnPropertyDescriptor(object, key)?.value;
  return typeof value === "string" ? value : undefined;
}

/** How a rule failed to give a verdict. */
type RuleFault = "threw" | "junk" | "promise";

const FAULTS: Readonly<Record<RuleFault, string>> = {
  threw: "failed",
  junk: "gave something that is not a verdict",
  promise: "answered with a promise where only an immediate answer counts",
};

/** The denial for a rule that did not do its work; it never holds the text of an exception. */
export function policyError(ruleId: string, fault: RuleFault): Decision {
  return { verdict: "deny", code: "POLICY_ERROR", reason: `the rule ${ruleId} ${FAULTS[fault]}`, ruleId };
}
