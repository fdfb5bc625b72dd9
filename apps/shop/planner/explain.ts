import { formatRupees } from "../money.ts";
import { REFUND_WINDOW_DAYS } from "../policy/limits.ts";
import type { Answer } from "./history.ts";
import type { KnownOrder } from "./known-order.ts";

export interface Refused {
  /** What was tried, as it follows "I can't": "refund Rs 500 on O-1001". */
  readonly tried: string;
  readonly orderId: string;
  readonly order: KnownOrder | undefined;
  readonly answer: Extract<Answer, { ok: false }>;
}

/** Says why something was not done, in words that a customer understands and can act on. */
export function explain({ tried, orderId, order, answer }: Refused): string {
  const no = (why: string) => `I can't ${tried}: ${why}.`;
  switch (answer.code) {
    case "ORDER_NOT_FOUND":
      return `I can't find order ${orderId}. Please check the number.`;
    case "SERVICE_UNAVAILABLE":
      return `I could not ${tried}: the order service does not answer at the moment. Please try again later.`;
    case "NOT_CANCELLABLE":
      return no(order === undefined ? "it can no longer be cancelled" : `it is already ${order.status}`);
    case "ORDER_CANCELLED":
      return no("the order is cancelled");
    case "REFUND_WINDOW_CLOSED":
      return no(
        `the ${REFUND_WINDOW_DAYS}-day window has closed${order === undefined ? "" : ` (the order is ${order.ageDays} days old)`}`,
      );
    case "AMOUNT_EXCEEDS_REMAINING":
      return no(
        order === undefined
          ? "that is more than is left"
          : `only ${formatRupees(order.remainingPaise)} of it can be refunded`,
      );
    case "AMOUNT_NOT_CONFIRMED_BY_USER":
      return no("please write the exact amount in whole rupees, such as Rs 500");
    case "NOT_CONFIRMED_BY_USER":
      return no(`please name the order in your message, such as ${orderId}`);
    case "NOT_REQUESTED_BY_CUSTOMER":
      return no("please say in your own words that you want it");
    case "EMAIL_ALREADY_SENT":
      return no("one has been sent for this message already");
    case "TOOL_NOT_ALLOWED":
      return no("that is not possible here");
    case "approval_rejected":
      return no("a colleague has declined it");
    case "approval_expired":
      return no("nobody decided about it in time, so please ask again");
    default:
      return no("it was refused");
  }
}
