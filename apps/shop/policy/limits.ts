/** Most that is refunded without a person: Rs 2,000. */
export const AUTO_REFUND_PAISE = 200_000;
/** Time in which refunds on one order count together towards that limit: 24 hours. */
export const AUTO_REFUND_PERIOD_MS: number = 24 * 60 * 60 * 1000;
/** Whole days after the order was placed in which it can be refunded; the last of them still counts. */
export const REFUND_WINDOW_DAYS = 30;
export const APPROVAL_TTL_HOURS = 24;
