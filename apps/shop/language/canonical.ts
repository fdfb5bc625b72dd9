import { type AmountMention, findAmounts } from "./amounts.ts";
import { findOrderIds, type OrderMention } from "./order-ids.ts";

/** The orders and amounts of a text, with their places. */
export interface Mentions {
  readonly orders: readonly OrderMention[];
  readonly amounts: readonly AmountMention[];
}

/** Stand for an order and an amount in canonical text; their numbers are places in the text's mentions. */
export const ORDER = String.raw`⟦o\d+⟧`;
export const AMOUNT = String.raw`⟦a\d+⟧`;

export function mentionsOf(text: string): Mentions {
  return { orders: findOrderIds(text), amounts: findAmounts(text) };
}

/** Common slips of the keyboard and short forms. Words of negation are here too, so that no slip hides one. */
const WORDS: Readonly<Record<string, string>> = {
  ...each("please", "pls plz plss plzz pleas plese pleese plase pelase pleaes"),
  ...each("refund", "refnd refudn reufnd rfund refun refundd reffund refuund refound"),
  ...each("refunded", "refuned refnded refudned"),
  ...each("cancel", "cancle cansel cancell cancal canel cancl cancelle cnacel"),
  ...each("cancelled", "canceled cancled cansled"),
  ...each("cancellation", "cancelation cancellaton cancelltion"),
  ...each("money", "mony monye moeny"),
  ...each("order", "oder ordr ordre"),
  ...each("want", "wnat wan't"),
  ...each("would", "woud wuld"),
  ...each("could", "coud cud"),
  ...each("can", "cn"),
  ...each("you", "u"),
  ...each("want to", "wanna"),
  ...each("give me", "gimme"),
  ...each("money back", "moneyback"),
  ...each("i am", "im i'm"),
  ...each("we are", "we're"),
  ...each("i would", "i'd"),
  ...each("we would", "we'd"),
  ...each("i have", "i've"),
  ...each("it is", "it's"),
  ...each("that is", "that's"),
  ...each("what is", "what's whats"),
  ...each("do not", "dont dnt don donot do'nt dont't doin't"),
  ...each("does not", "doesnt"),
  ...each("did not", "didnt"),
  ...each("will not", "wont won't"),
  ...each("can not", "cant can't cannot cann't"),
  ...each("is not", "isnt aint ain't"),
  ...each("are not", "arent"),
  ...each("was not", "wasnt"),
  ...each("has not", "hasnt"),
  ...each("have not", "havent"),
  ...each("should not", "shouldnt"),
  ...each("would not", "wouldnt"),
  ...each("could not", "couldnt"),
  ...each("not", "nt nto noot n0t"),
  ...each("never", "nevr neve nver"),
};

function each(word: string, slips: string): Readonly<Record<string, string>> {
  return Object.fromEntries(slips.split(" ").map((slip) => [slip, word]));
}

/**
 * A part of a text as the rules compare it: lower case, one way of writing each word, and marks for orders and amounts.
 *
 * The marks hold the numbers of the mentions: `refund ⟦a0⟧ on ⟦o0⟧`.
 */
export function canonicalText(text: string, from: number, to: number, mentions: Mentions): string {
  const marks = [
    ...mentions.orders.map(({ start, end }, index) => ({ start, end, mark: `⟦o${index}⟧` })),
    ...mentions.amounts.map(({ start, end }, index) => ({ start, end, mark: `⟦a${index}⟧` })),
  ]
    .filter(({ start, end }) => start >= from && end <= to)
    .sort((one, other) => one.start - other.start);
  let marked = "";
  let at = from;
  for (const { start, end, mark } of marks) {
    marked += withoutBrackets(text.slice(at, start)) + mark;
    at = end;
  }
  return oneWayOfWriting(marked + withoutBrackets(text.slice(at, to)));
}

const CURRENCY = String.raw`(?:₹|(?<![\p{L}\p{N}])(?:rs\.?|inr|rupees?))`;
const WITH_CURRENCY = new RegExp(
  `(?:${CURRENCY}\\s*)?(${AMOUNT})(?:\\s*(?:\\/-|${CURRENCY}(?![\\p{L}\\p{N}])))?`,
  "gu",
);

function oneWayOfWriting(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[’‘ʼ´`]/g, "'")
    .toLowerCase()
    .replaceAll(WITH_CURRENCY, " $1 ")
    .replaceAll(new RegExp(`[#(]\\s*(${ORDER})\\)?`, "g"), " $1 ")
    .replaceAll(new RegExp(`["']\\s*(${ORDER})\\s*["']`, "g"), " $1 ")
    .replaceAll(/[*_]/g, "")
    .replaceAll(/n't\b/g, (found, at: number, whole: string) =>
      /(?:ca|wo|ai)$/.test(whole.slice(0, at)) ? found : " not",
    )
    .split(/\s+/)
    .map((word) => {
      const bare = word.replaceAll(/^[("]+|[).,;:!?…"]+$/g, "");
      return Object.hasOwn(WORDS, bare) ? (WORDS[bare] ?? bare) : bare;
    })
    .filter((word) => word !== "" && !/^[-–—&]+$/.test(word))
    .join(" ")
    .replaceAll(/\bre-fund/g, "refund");
}

/** The brackets of the marks, so that no customer can write a mark. */
function withoutBrackets(text: string): string {
  return text.replaceAll(/[⟦⟧]/g, "¤");
}
