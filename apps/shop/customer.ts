import type { Principal } from "belay-harness";

const CUSTOMER_ID = /^\s*C-/i;

/**
 * The customer whose orders a principal is limited to, or `undefined` for one who is no customer of the shop.
 *
 * Whatever is written like a customer number is one, also when the shop does not know it: then no order is theirs.
 * Other principals (the desk of the command line, a visitor who is not signed in) speak for whoever stands before them.
 */
export function shopCustomer(principal: Principal): string | undefined {
  return CUSTOMER_ID.test(principal.id) ? principal.id : undefined;
}
