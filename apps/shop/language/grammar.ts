import { AMOUNT, ORDER } from "./canonical.ts";
import { spoils } from "./spoilers.ts";

export type RequestKind = "refund" | "cancel";

/** A clause that asks for something, in the few ways of asking that count. */
export interface Asking {
  readonly kind: RequestKind;
  /** Asks for a part of the money without saying how much. */
  readonly isPart: boolean;
  /** Asks in the form of a question that nobody takes for one: "can you refund it?". */
  readonly isPoliteQuestion: boolean;
}

const LEAD =
  "(?:(?:hi|hello|hey|dear|sir|madam|team|support|ok|okay|yes|so|and|also|then|now|well|just|simply|urgent|urgently|immediately|go ahead and|please|kindly|thanks|therefore|do not forget to|be so kind as to) )*";
const YOU =
  "(?<polite>(?:can|could) you (?:(?:please|kindly|just|also|now|then) )*|(?:would|will) you (?:please|kindly) )?";
const WISH =
  "(?:(?:i|we) (?:(?:really|just|now|hereby|also|do|still) )*(?:want|need|wish|request|require|demand|would (?:really )?like|would love|(?:am|are) (?:requesting|asking)) |requesting |need |want )";
const REFUND =
  "(?:(?:(?:a|the|my|our|any|full|complete|partial|part|immediate|total|quick|whole) )*(?:refund|reimbursement))";
const MONEY = "(?:(?:(?:all|some|part|half|most) (?:of )?)?(?:(?:my|our|the|full) )*(?:money|payment|cash) back)";
const SUM = `(?:${AMOUNT} (?:of (?:it|that|my money) )?back)`;
const GIVE = "(?:give|pay|send|get|transfer|return)(?: me| us)?";
const REFUNDING = [
  "(?:refund|reimburse|repay|pay back|pay (?:me|us) back)",
  `(?:give|issue|make|process|grant|initiate|start|arrange|send|do|complete|provide|raise)(?: me| us)? ${REFUND}`,
  `${GIVE} ${MONEY}`,
  `${GIVE} ${SUM}`,
  `${GIVE} back(?= ${AMOUNT})`,
  "return (?:my|our) (?:money|payment)",
  `(?:proceed|go ahead) with ${REFUND}`,
].join("|");
const CANCELLING = "cancel|call off|(?:process|do|make|complete|arrange|proceed with) (?:(?:the|my|a) )*cancellation";
const GOODS = `(?:${REFUND}|${MONEY}|${SUM})`;

const pattern = (body: string): RegExp => new RegExp(`^${LEAD}${body}(?: (?<rest>.*))?$`);
const FORMS: Readonly<Record<RequestKind, readonly RegExp[]>> = {
  refund: [
    pattern(`${YOU}(?:${REFUNDING})`),
    pattern(`${WISH}(?:for |to (?:get|have|receive|request|ask for|claim) )?${GOODS}`),
    pattern(`${WISH}(?:you to |your team to |to )(?:please )?(?:${REFUNDING})`),
    pattern(`${WISH}to be (?:refunded|reimbursed|paid back)`),
    pattern(`${WISH}(?<object>.+?) (?:to be )?(?:refunded|reimbursed|paid back)`),
    pattern(`(?<polite>(?:can|could|may) (?:i|we) (?:please|kindly) (?:get|have|receive) )${GOODS}`),
  ],
  cancel: [
    pattern(`${YOU}(?:${CANCELLING})`),
    pattern(`${WISH}(?:you to |your team to |to )(?:please )?(?:${CANCELLING})`),
    pattern(`${WISH}(?:for |to (?:get|have|request|ask for) )?(?:(?:a|an|the|my|immediate) )*cancellation`),
    pattern(`${WISH}(?<object>.+?) (?:to be )?(?:cancelled|called off)`),
  ],
};

// A noun is no request: "refund for O-1001" may be the subject of a question.
const BARE_NOUN = new RegExp(`^${LEAD}(?:refund|reimbursement|cancel) (?:for|of|on|from|about) (?!me\\b|us\\b)`);

/** Reads one clause in canonical text; `undefined` when it is not wholly one of the ways of asking. */
export function askingOf(canonical: string, isPleading: boolean): Asking | undefined {
  for (const kind of ["refund", "cancel"] as const) {
    for (const form of FORMS[kind]) {
      const { rest = "", object = "", polite } = form.exec(canonical)?.groups ?? { rest: "\u0000" };
      if (isPlain(rest, kind) && isPlain(object, kind) && (isPleading || !BARE_NOUN.test(canonical))) {
        return { kind, isPart: kind === "refund" && PART.test(canonical), isPoliteQuestion: polite !== undefined };
      }
    }
  }
  return undefined;
}

const PART = /\b(?:part|partial|partially|half|some|portion|quarter|percent)\b/;
const HARMLESS = new RegExp(
  [
    "as soon as possible|as well|at once|right away|right now|thank you|thanks|in full|without delay|asap",
    "(?:to|into|on) (?:my|our) (?:original |same )?(?:card|account|bank account|bank|wallet|upi|payment method)",
    "(?:what(?:ever)? is left|the rest|the remainder|the balance|the remaining (?:amount|money)|the (?:full|whole|total|entire) (?:amount|money|price))(?: of)?",
    `(?:out )?of (?:the|my) ${AMOUNT}(?: total)?(?:(?: that)?(?: i| we) (?:paid|was charged|spent))?(?: for)?(?: it)?`,
    "(?:that |which )?(?:i|we) (?:have |had )?(?:just )?(?:bought|ordered|purchased|got|received)(?: (?:on|last|this|from you|two|three|few|a|days?|weeks?|months?|week|month|ago|yesterday|today|monday|tuesday|wednesday|thursday|friday|saturday|sunday))*",
  ]
    .map((words) => `(?:${words})`)
    .join("|"),
  "g",
);
const ALLOWED = new Set(
  (
    "me us it this that these those them both all everything order orders number on for of from in with against my our the a an and each please kindly now today " +
    "immediately quickly urgently full fully completely entirely whole total complete back only just exactly too also instead sir madam team part partially half some portion " +
    "amount partial item items product products money sum"
  ).split(" "),
);
// After one of these, words that the rules do not know may name a thing.
const DETERMINER = new Set("my our the this that these those a an".split(" "));
const NO_THING =
  /^(?:e-?mails?|mails?|messages?|refunds?|reimbursements?|cancell?ations?|requests?|subscriptions?|newsletters?|reminders?|appointments?|meetings?|notifications?|alerts?|calls?|delivery|deliveries|shipping|shipments?|pickup|accounts?|memberships?|tickets?|complaints?|claims?|approvals?|polic(?:y|ies)|fees?|charges?|tax|gst|tips?|difference|deposit|returns?|exchange|replacement|questions?|reviews?|rating|discount|coupons?|vouchers?|warranty|invoices?|receipts?|payments?|process|status|idea|plans?|services?|customers?|friends?|neighbou?rs?|words?|texts?|is|are|was|were|be|been|being|has|have|had|do|does|did|will|would|should|could|may|can|must|i|you|he|she|they|we|who|what|why|how|where|which|to|at|about|regarding|than|because|want|wants|need|needs|ask|go|goes|went|made|make|makes|happen\w*|arriv\w*|request\w*|cancel\w*|refund\w*)$/;
const THING = /^[a-zà-ÿ][a-zà-ÿ'-]*$/;
const THINGS_MAX = 4;
const MARK = new RegExp(`^(?:${ORDER}|${AMOUNT})$`);

/** True when nothing in the rest of a request says more than what, how much, and how soon. */
function isPlain(rest: string, kind: RequestKind): boolean {
  const words = rest
    .replaceAll(HARMLESS, " ")
    .split(/\s+/)
    .filter((word) => word !== "");
  // Words of a name so far, or `undefined` where no name may stand.
  let things: number | undefined;
  return words.every((word) => {
    if (MARK.test(word)) {
      things = undefined;
      return kind === "refund" || word.startsWith("⟦o");
    }
    if (ALLOWED.has(word)) {
      things = DETERMINER.has(word) ? 0 : PREPOSITION.has(word) ? undefined : things;
      return true;
    }
    things = things === undefined ? undefined : things + 1;
    return things !== undefined && things <= THINGS_MAX && isThing(word);
  });
}

const PREPOSITION = new Set("on for of from in with against".split(" "));

function isThing(word: string): boolean {
  return THING.test(word) && !NO_THING.test(word) && !spoils(word);
}

const LIST = `(?:(?:the |my )?(?:orders? |number )*${ORDER}(?: (?:and )?(?:orders? )?${ORDER})*)`;
const CONTINUATION = new RegExp(
  `^(?:(?:and|also|please|only|just|for|of|on|from|each) )*(?:(?:only |just )?${AMOUNT}(?: only| back| each)*)?(?: ?(?:for|of|on|from|the|my|order|orders|number) )*(?:${LIST})?(?: (?:each|too|as well|also|both|please|only|back))*$`,
);
const ORDER_IS = new RegExp(
  `^(?:(?:it is|this is|that is|(?:my|the) order(?: number| no| id)?(?: is)?|order(?: number)?(?: is)?|number|for|the number is|my number is) )+${LIST}$`,
);
const REFUSED = new RegExp(
  `^${LEAD}(?:(?:do not|never) (?:please |ever )?(?:refund|cancel|reimburse)|(?:i|we) (?:do not|never) (?:want|need|wish|want you) (?:a |the |any |to )*(?:refund|cancel|cancellation)(?: for| of| on)?) ${LIST}(?: please| anymore| any more| at all| yet| now)*$`,
);
const LEFT_OUT = new RegExp(`^(?:(?:but|and|please) )*(?:not|never) (?:for |on )?${LIST}(?: please| though)*$`);

/** More orders or amounts for the request before: "and O-1008", "only Rs 700". */
export function continuesRequest(canonical: string): boolean {
  return canonical !== "" && /⟦/.test(canonical) && CONTINUATION.test(canonical);
}

/** Says which order is meant: "my order is O-1001". */
export function saysWhichOrder(canonical: string): boolean {
  return ORDER_IS.test(canonical) || new RegExp(`^${LIST}$`).test(canonical);
}

/** What is refused for the orders of the clause: "do not refund O-1001", ", not O-1008"; both kinds for the latter. */
export function refusalIn(canonical: string): readonly RequestKind[] {
  if (LEFT_OUT.test(canonical)) {
    return ["refund", "cancel"];
  }
  const found = REFUSED.exec(canonical);
  return found === null ? [] : [/\bcancel/.test(found[0]) ? "cancel" : "refund"];
}
