import type { ApprovalRule } from "../../config.ts";
import type { HarnessOptions } from "../../engine/index.ts";
import type { PeopleStore } from "../people/people-store.ts";
import { refusalOf } from "./quorum.ts";

/** The server's word on who may decide, as the engine asks for it (`mayDecide` of `createHarness`). */
export function createDecisionGuard(
  people: PeopleStore,
  rules: readonly ApprovalRule[] = [],
): NonNullable<HarnessOptions["mayDecide"]> {
  return (by, approval) => {
    const signedIn = by.kind === "person" ? people.find(approval.tenant, by.id) : undefined;
    return signedIn !== undefined && refusalOf({ rules }, signedIn, approval) === undefined;
  };
}
