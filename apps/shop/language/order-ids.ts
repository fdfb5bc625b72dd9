/** One order number in a text, with its place. */
export interface OrderMention {
  readonly orderId: string;
  readonly start: number;
  readonly end: number;
}

// Marks and invisible format characters count as part of a word: a number that continues invisibly is not the number.
const WORD = String.raw`[\p{L}\p{N}\p{M}\p{Cf}_]`;
const ORDER_ID = new RegExp(`(?<!${WORD})(?<!${WORD}-)[Oo]-[0-9]{4}(?!${WORD}|-${WORD})`, "gu");

/**
 * Finds order numbers (`O-1001`, also `o-1001`) that stand alone in a text, in order.
 *
 * Exact on purpose: `O-10112`, `XO-1011`, a non-breaking hyphen, a look-alike letter or a bare `1011` is no mention.
 */
export function findOrderIds(text: string): readonly OrderMention[] {
  return [...text.matchAll(ORDER_ID)].map((match) => ({
    orderId: match[0].toUpperCase(),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** True when the text names the order by its exact number. */
export function namesOrder(text: string, orderId: string): boolean {
  return findOrderIds(text).some((mention) => mention.orderId === orderId);
}
