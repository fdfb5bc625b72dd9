import type { Principal } from "../core/index.ts";
import type { ApprovalRow } from "../journal/index.ts";

/**
 * Why a principal may not answer a question, or `undefined`.
 *
 * Only a person answers, and never the one who asked: an agent's credential, a customer and the system are refused
 * whatever the application's own rule says.
 */
export function refusalToDecide(
  by: Principal,
  approval: ApprovalRow,
  mayDecide?: (by: Principal, approval: ApprovalRow) => boolean,
): string | undefined {
  if (by.kind !== "person") return `only a person can decide an approval, and '${by.id}' is known as: ${by.kind}`;
  if (by.id.trim() === "") return "the person has no name";
  if (approval.requester.kind === "person" && sameName(approval.requester.id, by.id)) {
    return `${by.id} asked for this and cannot approve it; another person has to`;
  }
  return mayDecide === undefined || isAllowed(mayDecide, by, approval) ? undefined : `${by.id} may not decide this`;
}

/** The application's own rule; one that throws allows nothing. */
function isAllowed(
  mayDecide: (by: Principal, approval: ApprovalRow) => boolean,
  by: Principal,
  approval: ApprovalRow,
): boolean {
  try {
    return mayDecide(by, approval) === true;
  } catch {
    return false;
  }
}

/** One person under two spellings is still one person. */
function sameName(one: string, other: string): boolean {
  const plain = (name: string): string => name.normalize("NFKC").trim().toLowerCase();
  return plain(one) === plain(other);
}
