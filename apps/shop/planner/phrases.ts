import { speaksOfRequests } from "../language/reading.ts";

const EMAIL_REQUESTS: readonly RegExp[] = [
  /\b(?:e-?mail|mail)\s+(?:me|us|it|them|the|my|a|to|confirmation)\b/i,
  /\b(?:send|drop|shoot|write|want|need|like|get)\b.*\be-?mails?\b/i,
  /\b(?:by|via|over|through|in an?)\s+e-?mail\b/i,
  /\bsend\b.*\b(?:confirmation|receipt|summary|copy|update|details)\b/i,
];
const NO_EMAIL = /\b(?:not|never|no|without)\b|n't|\b(?:change|update|what|which) (?:my |the |your )?e-?mail/i;

/** True when a clause asks for an e-mail. */
export function asksForEmail(clause: string): boolean {
  return !NO_EMAIL.test(clause) && EMAIL_REQUESTS.some((pattern) => pattern.test(clause));
}

/** True when the message asks for an overview of orders. */
export function isListOfOrders(message: string): boolean {
  return (
    /\b(?:my|all|list|show|which|what|recent|any)\b[^.?!]*\borders\b/i.test(message) &&
    !/\bcancel|\brefund/i.test(message)
  );
}

export type Status = "placed" | "shipped" | "delivered" | "cancelled";

/** The status that a message asks orders for. */
export function statusWord(message: string): Status | undefined {
  if (/\bcancell?ed\b/i.test(message)) {
    return "cancelled";
  }
  if (/\bdelivered\b|\barrived\b/i.test(message)) {
    return "delivered";
  }
  if (/\bshipped\b|\bon (?:its|the|their) way\b|\bin transit\b/i.test(message)) {
    return "shipped";
  }
  return /\b(?:placed|open|pending)\b/i.test(message) ? "placed" : undefined;
}

/** True when the message speaks of an order without any number. */
export function speaksOfAnOrder(message: string): boolean {
  return /\b(?:orders?|parcel|package|delivery|shipment|deliver(?:ed|y)?|arriv\w*|track(?:ing)?|bought|purchased?)\b/i.test(
    message,
  );
}

/** An order number that is not written as the shop writes it: "order 1011", "#1011", "O1011". */
export function looseOrderNumber(message: string): string | undefined {
  const found = /(?:\border\s*(?:no\.?|number|id)?\s*[#:]?\s*|#|\bO\s?|\bO[‐-―−])([0-9]{4})(?![0-9])/iu.exec(message);
  return found?.[1];
}

// Words of a request that are no words of an item.
const NO_ITEM = new Set(
  (
    "i'd i'll i'm i've a an and any are ask at be been bought but buy can cancel cancellation cancelled canceled check come confirm confirmation could day days " +
    "deliver delivered delivery details did do does don't email e-mail find for from full get give got has have hello help hey hi how i if in is it its item kindly last " +
    "latest like list look mail make me money my need new no not now of on one or order ordered orders our out package parcel " +
    "partial part please product purchase purchased quickly recent refund refunded refunding return search see send shipped ship show should some soon status still stop " +
    "tell thank thanks that the their them there these they thing this those to today track tracking up us very want was we week were what " +
    "what's when where where's which who why will with would yesterday yet you your arrived arrive arriving back bring broken damaged"
  ).split(" "),
);
const ITEM_WORDS_MAX = 3;

/** The words of a message that may describe an item, for a search. */
export function itemWords(message: string): readonly string[] {
  const words =
    message
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[a-z][a-z'-]*[a-z]/g) ?? [];
  return [...new Set(words.filter((word) => word.length >= 3 && !NO_ITEM.has(word)))].slice(0, ITEM_WORDS_MAX);
}

export type SmallTalk = "greeting" | "thanks" | "rules" | "other";

/** How to ask for what a message hints at without asking for it; the order's number is put in for `#`. */
export function hintFor(message: string): string | undefined {
  if (/\b(?:return|send (?:it )?back|broken|damaged|defective|faulty|wrong)\b/i.test(message)) {
    return "If you want a refund, please write: Refund #.";
  }
  if (/\b(?:stop|changed my mind|any ?more|no longer)\b/i.test(message) && !speaksOfRequests(message)) {
    return "If you want it cancelled, please write: Cancel #.";
  }
  return speaksOfRequests(message) && !INFORMATION.test(message) ? confirmation(message) : undefined;
}

const INFORMATION = /^\W*(?:was|were|has|have|did|when|what|how|why|where|which|who)\b/i;

/** Asks for a plain word where a message may be a request and may be something else. */
function confirmation(message: string): string {
  const [kind, verb] = /\b(?:cancel|call(?:ed)? off|cancle|cansel)/i.test(message)
    ? (["cancelled", "Cancel"] as const)
    : (["refunded", "Refund"] as const);
  return `I have changed nothing. If you want it ${kind}, please write just this: ${verb} #.`;
}

/** What a message is about that asks for nothing to be done. */
export function smallTalk(message: string): SmallTalk {
  if (/\b(?:refunds?|cancel(?:lation)?s?|returns?)\b/i.test(message)) {
    return "rules";
  }
  if (/^\W*(?:thanks|thank you|cheers|great|perfect|ok(?:ay)?)\b/i.test(message)) {
    return "thanks";
  }
  return /^\W*(?:hi|hello|hey|namaste|good (?:morning|afternoon|evening|day)|help|what can you)\b/i.test(message)
    ? "greeting"
    : "other";
}
