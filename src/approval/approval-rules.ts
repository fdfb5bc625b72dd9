import type { ApprovalRule, Person } from "../config.ts";
import { BelayError } from "../errors.ts";
import type { ApprovalRow } from "../journal/index.ts";

/** Who answers one question: a rule, or why nobody can. */
export type RuleFound =
  | { readonly ok: true; readonly rule: ApprovalRule; readonly needed: number }
  | { readonly ok: false; readonly reason: string };

const APPROVERS: Person["roles"] = ["approver", "admin"];
const NEEDED_MAX = 10;

/**
 * The first rule about a question. Without any rules, one approver or admin answers everything.
 *
 * It fails closed: a question that no rule is about, and one whose amount a rule needs and cannot read, is for nobody.
 */
export function ruleFor(rules: readonly ApprovalRule[], approval: ApprovalRow): RuleFound {
  if (rules.length === 0) return { ok: true, rule: {}, needed: 1 };
  for (const rule of rules) {
    if (rule.tools?.includes(approval.tool) === false || rule.codes?.includes(approval.code) === false) continue;
    const inRange = isInRange(rule, approval);
    if (inRange === undefined) {
      return { ok: false, reason: `the amount ${rule.amount?.argument} of this call cannot be read, so nobody may` };
    }
    if (inRange) return { ok: true, rule, needed: rule.approvals ?? 1 };
  }
  return { ok: false, reason: "no rule of the configuration says who answers this question" };
}

/** Whether a person is one of those whom a rule names. */
export function isNamed(rule: ApprovalRule, person: Person): boolean {
  if (rule.persons !== undefined && !rule.persons.includes(person.id)) return false;
  return person.roles.some((role) => (rule.roles ?? APPROVERS).includes(role));
}

/** Throws `BELAY_SERVER_SETTINGS` for a rule that could not be followed. */
export function checkApprovalRules(rules: readonly ApprovalRule[]): void {
  for (const [index, { approvals = 1, persons, amount }] of rules.entries()) {
    const isCount = Number.isInteger(approvals) && approvals >= 1 && approvals <= NEEDED_MAX;
    const isReachable = persons === undefined || new Set(persons).size >= approvals;
    const isRange =
      amount === undefined || [amount.from, amount.below].every((end) => end === undefined || Number.isFinite(end));
    if (isCount && isReachable && isRange) continue;
    throw new BelayError(
      "BELAY_SERVER_SETTINGS",
      `Rule ${index + 1} of 'approvals' cannot be followed: it needs 1 to ${NEEDED_MAX} approvals, at least as many ` +
        "persons where it names them, and finite amounts.",
    );
  }
}

function isInRange({ amount }: ApprovalRule, { args }: ApprovalRow): boolean | undefined {
  if (amount === undefined) return true;
  const value =
    typeof args === "object" && args !== null && !Array.isArray(args) ? propertyOf(args, amount.argument) : undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) return undefined;
  return value >= (amount.from ?? Number.NEGATIVE_INFINITY) && value < (amount.below ?? Number.POSITIVE_INFINITY);
}

function propertyOf(args: object, name: string): unknown {
  return Object.hasOwn(args, name) ? (args as Readonly<Record<string, unknown>>)[name] : undefined;
}
