import { PAISE_PER_RUPEE } from "../money.ts";
import { findOrderIds } from "./order-ids.ts";

/** One amount of money in a text, with its place. */
export interface AmountMention {
  readonly paise: number;
  readonly start: number;
  readonly end: number;
}

const NUMBER_RUN = /[0-9](?:[0-9,.]*[0-9])?/g;
// 1500 · 1,500 · 1,50,000 (Indian grouping), each with at most two decimals; anything else is not read as a number.
const PLAIN = /^[0-9]{1,9}(?:\.[0-9]{1,2})?$/;
const GROUPED = /^(?:[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,2}(?:,[0-9]{2}){0,3},[0-9]{3})(?:\.[0-9]{1,2})?$/;

// Letters are spelled out instead of using the `i` flag, under which `ſ` is an `s`.
const CURRENCY_BEFORE = /(?:₹|(?<![\p{L}\p{N}_])(?:[Rr][Ss]\.?|[Ii][Nn][Rr]|[Rr]upees?))[ \u00a0]?$/u;
const CURRENCY_AFTER =
  /^[ \u00a0]?(?:\/-|₹|(?:[Rr][Ss]\.?|[Ii][Nn][Rr]|[Rr]upees?)(?![\p{L}\p{N}_]))(?![ \u00a0]?[0-9])/u;
const REFUND_BEFORE =
  /(?<![\p{L}\p{N}_])(?:[Rr]efund|[Rr]eimburse|[Rr]epay|(?:[Gg]ive|[Pp]ay) (?:me|us) back)(?: (?:me|us|of|just|only|exactly|back|partially))* $/u;
const REFUND_AFTER = /^(?:$|[.,;:!?)]|\s+(?:on|for|from|to|please|only|now|back|against|and|but)(?![\p{L}\p{N}_]))/u;
const BEFORE_BARE = /(?:^|[\s("'[:=])$/u;
// More digits, a range, a percentage, a longer word, a multiplier or another currency makes it another amount.
const AFTER_SPOILS =
  /^(?:\s+[0-9]|\s*[-–—−/'’×*][0-9]|\s*[,.]\s+[0-9]|\s+[,.]|\s*%|\s*(?:rs\.?|₹|inr|rupees?)?\s*(?:[-–—−/×*]|x|to|or|till|until|upto|off)\s*(?:rs\.?|₹|inr)?\s*[0-9]|\s?(?:k|lakhs?|lacs?|crores?|cr|thousand|hundred|million|mn)(?![\p{L}])|\s?(?:usd|us\$|dollars?|\$|eur|euros?|€|gbp|pounds?|£|pkr|lkr|npr|aed|sgd|cents?|paise|paisa)(?![\p{L}]))/iu;
// A sign, another currency, a negation or a comparison before it does the same.
const BEFORE_SPOILS =
  /(?:[-–—−+~<>≤≥≠=/^*]\s?|[$€£¥]\s?|(?<![\p{L}\p{N}])(?:not|no|nor|never|except|excluding|minus|less|less than|more than|over|under|above|below|at least|at most|up to|upto|between|without|than|by|usd|us|eur|gbp|pkr|lkr|npr|aed|sgd|aud|cad|idr|scr|mur|pakistani|nepali|nepalese|lankan|indonesian|mauritian)\s*)$/iu;
// "1 500 rupees" is not 500 rupees.
const BEFORE_DIGITS = /[0-9][\s'’.,]\s?$/u;
const CURRENCY_WORD = /(?:₹|(?:rs\.?|inr|rupees?))\s?$/iu;
const AFTER_WORD = /^[\p{L}\p{N}\p{M}\p{Cf}_]/u;

/**
 * Finds amounts that are written as rupees (`Rs 1,500`, `₹1500`, `INR 1500`, `1500 rupees`, `1,500/-`), or as a number
 * directly after a word for refunding (`refund 1500 on …`), in order. What may be anything else is left out: digits of
 * order numbers, dates, ranges, `2k`.
 */
export function findAmounts(text: string): readonly AmountMention[] {
  const orderNumbers = new Set(findOrderIds(text).map(({ orderId }) => Number(orderId.slice(2))));
  return [...text.matchAll(NUMBER_RUN)].flatMap((match) => {
    const start = match.index;
    const end = start + match[0].length;
    const rupees = readNumber(match[0]);
    if (rupees === undefined) {
      return [];
    }
    const before = text.slice(Math.max(0, start - 60), start);
    const after = text.slice(end, end + 20);
    if (BEFORE_DIGITS.test(before) || BEFORE_SPOILS.test(before.replace(CURRENCY_WORD, ""))) {
      return [];
    }
    if (!isMoney(before, after) && (orderNumbers.has(rupees) || !isRefundNumber(before, after))) {
      return [];
    }
    return [{ paise: Math.round(rupees * PAISE_PER_RUPEE), start, end }];
  });
}

function readNumber(run: string): number | undefined {
  return PLAIN.test(run) || GROUPED.test(run) ? Number(run.replaceAll(",", "")) : undefined;
}

function isMoney(before: string, after: string): boolean {
  if (AFTER_SPOILS.test(after)) {
    return false;
  }
  if (CURRENCY_BEFORE.test(before)) {
    return !AFTER_WORD.test(after);
  }
  return BEFORE_BARE.test(before) && CURRENCY_AFTER.test(after);
}

function isRefundNumber(before: string, after: string): boolean {
  return !AFTER_SPOILS.test(after) && REFUND_BEFORE.test(before) && REFUND_AFTER.test(after);
}
