import { isNamed, ruleFor } from "../../approval/index.ts";
import type { ApprovalRow } from "../../journal/index.ts";
import type { SignedIn } from "../deps.ts";
import { hasStarted } from "../people/starter-mark.ts";
import type { OperationContext } from "./context.ts";
import type { Quorum } from "./operation.ts";
import { isAgent, may } from "./permission.ts";

/** Who must agree to a question, who has, and whether this person may answer. */
export function quorumOf(context: OperationContext, by: SignedIn, approval: ApprovalRow): Quorum {
  const found = ruleFor(context.rules, approval);
  const refusal = refusalOf(context, by, approval);
  return {
    needed: found.ok ? found.needed : 1,
    given: validVotes(context, approval),
    ...(refusal === undefined ? {} : { refusal }),
  };
}

/** Why a person may not answer a question, or undefined. The engine asks this too, before it records an answer. */
export function refusalOf(
  context: Pick<OperationContext, "rules">,
  by: SignedIn,
  approval: ApprovalRow,
): string | undefined {
  if (isAgent(by)) return "an agent's credential can never decide";
  if (by.tenant !== approval.tenant) return "the question belongs to another tenant";
  if (!may(by, "decide")) return `${by.person.id} has neither the role approver nor admin`;
  const { requester } = approval;
  const isOwn = (requester.kind === "person" && requester.id === by.person.id) || hasStarted(approval, by);
  if (isOwn) return `${by.person.id} asked for this and cannot answer it; another person has to`;
  const found = ruleFor(context.rules, approval);
  if (!found.ok) return found.reason;
  return isNamed(found.rule, by.person) ? undefined : `${by.person.id} is not one of those who answer such questions`;
}

/** The votes that still count: of people who are still there and still may. */
export function validVotes(
  context: Pick<OperationContext, "votes" | "people" | "rules">,
  approval: ApprovalRow,
): Quorum["given"] {
  return context.votes.of(approval).filter(({ personId }) => {
    const voter = context.people.find(approval.tenant, personId);
    return voter !== undefined && refusalOf(context, voter, approval) === undefined;
  });
}
