import type { Principal } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { Role, SignedIn } from "../deps.ts";
import type { Permission } from "./operation.ts";

const ROLES: Readonly<Record<Permission, readonly Role[]>> = {
  read: ["viewer", "operator", "approver", "admin"],
  operate: ["operator", "admin"],
  decide: ["approver", "admin"],
  reconcile: ["approver", "admin"],
};

/** Whether the roles allow it. A program's credential starts runs and reads its own; it never decides. */
export function may({ person, kind }: SignedIn, permission: Permission): boolean {
  if (kind === "agent") return permission === "operate";
  return person.roles.some((role) => ROLES[permission].includes(role));
}

/** Throws `BELAY_NOT_PERMITTED`. */
export function checkMay(by: SignedIn, permission: Permission): void {
  if (may(by, permission)) return;
  const needs = by.kind === "agent" ? "a person" : `one of the roles ${ROLES[permission].join(", ")}`;
  throw new BelayError("BELAY_NOT_PERMITTED", `${by.person.id} may not do this; it needs ${needs}.`);
}

/** The identity that the engine records; made from the credential alone. */
export function principalOf({ person, kind }: SignedIn): Principal {
  return { kind: kind === "agent" ? "agent" : "person", id: person.id };
}

export function isAgent({ kind }: SignedIn): boolean {
  return kind === "agent";
}
