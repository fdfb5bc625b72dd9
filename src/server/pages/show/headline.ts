import type { JsonValue } from "../../../core/index.ts";

/** What a person must see first of a call: how much, and for whom. Absent where the arguments name none. */
export interface Headline {
  readonly amount?: { readonly name: string; readonly text: string; readonly exact?: string };
  readonly recipient?: { readonly name: string; readonly text: string };
}

const AMOUNT = /(^|_)(amount|paise|cents|total|sum|price|quantity|qty|units|value)(_|$)/;
/** The earlier a name stands here, the more it says where money or goods go. */
const RECIPIENTS: readonly RegExp[] = [
  /(^|_)(payee|recipient|beneficiary|iban|account|to)(_|$)/,
  /(^|_)(customer|supplier|vendor|email|address)(_|$)/,
  /(^|_)(order|invoice|sku|product|item)(_|$)/,
  /(^|_)id$/,
];
/** Keys that keep a call from happening twice name nobody. */
const NOBODY = /idempotency|(^|_)key$/;
const RUPEES = new Intl.NumberFormat("en-IN", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const HUNDREDTHS = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 9 });

/** Finds amount and recipient among the arguments of a call by their names; the exact arguments stand beside it. */
export function headlineOf(args: JsonValue): Headline {
  const fields = fieldsOf(args);
  const amount = fields.find(([name, value]) => typeof value === "number" && AMOUNT.test(wordsOf(name)));
  const named = fields.filter(([name, value]) => isName(value) && !NOBODY.test(wordsOf(name)));
  const recipient = RECIPIENTS.map((pattern) => named.find(([name]) => pattern.test(wordsOf(name)))).find(
    (found) => found !== undefined,
  );
  return {
    ...(amount !== undefined && { amount: { name: amount[0], ...amountText(amount[0], Number(amount[1])) } }),
    ...(recipient !== undefined && { recipient: { name: recipient[0], text: String(recipient[1]) } }),
  };
}

/** An amount as people read it, by the unit at the end of its name; `exact` is the number as it is sent. */
export function amountText(name: string, value: number): { readonly text: string; readonly exact?: string } {
  const words = wordsOf(name);
  if (words.endsWith("paise") && Number.isInteger(value)) {
    return { text: `Rs ${RUPEES.format(value / 100)}`, exact: `${WHOLE.format(value)} paise` };
  }
  if (words.endsWith("cents") && Number.isInteger(value)) {
    return { text: HUNDREDTHS.format(value / 100), exact: `${WHOLE.format(value)} cents` };
  }
  return { text: WHOLE.format(value) };
}

/** `order_id` and `orderId` as words: `order id`. */
export function labelOf(name: string): string {
  return wordsOf(name).replaceAll("_", " ");
}

/** Fields of an object; anything else is one field without a name. */
export function fieldsOf(args: JsonValue): readonly (readonly [string, JsonValue])[] {
  return typeof args === "object" && args !== null && !Array.isArray(args) ? Object.entries(args) : [["", args]];
}

function wordsOf(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

function isName(value: JsonValue): boolean {
  return (typeof value === "string" && value !== "") || typeof value === "number";
}
