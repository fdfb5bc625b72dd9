import type { Principal } from "belay-harness";

/**
 * The customer whose orders a principal is limited to, or `undefined` for one who is no customer.
 *
 * The kind alone decides: a customer with a number that the shop does not know, in whatever writing, owns no order. Other
 * principals (the desk of the command line, a visitor who is not signed in) speak for whoever stands before them.
 */
export function shopCustomer(principal: Principal): string | undefined {
  return principal.kind === "customer" ? principal.id : undefined;
}
