const RUPEES = new Intl.NumberFormat("en-IN", { minimumFractionDigits: 0, maximumFractionDigits: 2 });
const RUPEES_AND_PAISE = new Intl.NumberFormat("en-IN", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** Paise in one rupee; all money in the shop is a whole number of paise, so that sums are exact. */
export const PAISE_PER_RUPEE = 100;

/** Writes an amount of paise as people read it: `Rs 1,500` or `Rs 1,500.50`. */
export function formatRupees(paise: number): string {
  const whole = paise % PAISE_PER_RUPEE === 0;
  return `Rs ${(whole ? RUPEES : RUPEES_AND_PAISE).format(paise / PAISE_PER_RUPEE)}`;
}
