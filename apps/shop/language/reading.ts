import { canonicalText, type Mentions, mentionsOf } from "./canonical.ts";
import { type Clause, clausesOf } from "./clauses.ts";
import { type Asking, askingOf, continuesRequest, type RequestKind, refusalIn, saysWhichOrder } from "./grammar.ts";
import { complains, holdsOthersWords, REQUEST_WORD, spoils, takesBack } from "./spoilers.ts";

/** Orders and amounts of one clause of a request. */
export interface Segment {
  readonly orders: readonly string[];
  /** Paise. */
  readonly amounts: readonly number[];
  readonly hasEach: boolean;
}

/** A request as its sentence says it, before the orders of others are looked at. */
export interface ReadRequest extends Asking {
  readonly sentence: number;
  readonly segments: readonly Segment[];
  /** Number of its clause. */
  readonly clause: number;
}

export interface Reading {
  readonly mentions: Mentions;
  readonly clauses: readonly Clause[];
  readonly requests: readonly ReadRequest[];
  readonly refused: readonly { readonly kind: RequestKind; readonly orderId: string }[];
}

interface Line {
  readonly clause: Clause;
  readonly index: number;
  readonly canonical: string;
  readonly segment: Segment;
}

/**
 * Reads a message clause by clause. A request is a clause that wholly is one of a few ways of asking; words elsewhere
 * that put it in doubt (a negation, a condition, a quotation, a report, a change of mind) take every request away.
 */
export function readMessage(message: string): Reading {
  const mentions = mentionsOf(message);
  const clauses = clausesOf(message);
  const lines = clauses.map((clause, index) => {
    const canonical = canonicalText(message, clause.start, clause.end, mentions);
    return { clause, index, canonical, segment: segmentOf(canonical, mentions) };
  });
  const draft = lines.reduce(takeLine, { requests: [], refused: [], isDoubtful: false, last: undefined });
  const isDoubtful = draft.isDoubtful || holdsOthersWords(message) || hasUnreadColon(lines) || leavesOut(lines);
  return { mentions, clauses, refused: draft.refused, requests: isDoubtful ? [] : draft.requests };
}

interface Draft {
  readonly requests: readonly ReadRequest[];
  readonly refused: Reading["refused"];
  readonly isDoubtful: boolean;
  /** What a clause without a verb goes on with. */
  readonly last: "request" | { readonly refusal: readonly RequestKind[] } | undefined;
}

function takeLine(draft: Draft, line: Line): Draft {
  const { clause, canonical, segment } = line;
  const refusal = refusalIn(canonical);
  if (refusal.length > 0) {
    return { ...draft, refused: [...draft.refused, ...refusalsOf(refusal, segment)], last: { refusal } };
  }
  const asking = isBareWord(canonical) ? undefined : askingOf(canonical, /\bplease\b|\bkindly\b/.test(canonical));
  if (asking !== undefined) {
    return takeAsking(draft, line, asking);
  }
  if (continuesRequest(canonical) && draft.last !== undefined && isJoined(clause, canonical)) {
    return draft.last === "request"
      ? { ...draft, requests: withSegment(draft.requests, segment) }
      : { ...draft, refused: [...draft.refused, ...refusalsOf(draft.last.refusal, segment)] };
  }
  if (saysWhichOrder(canonical) && draft.requests.at(-1)?.segments.every(({ orders }) => orders.length === 0)) {
    return { ...draft, requests: withSegment(draft.requests, segment), last: undefined };
  }
  return takeOther(draft, line);
}

/** Anything that asks for nothing: it is harmless, a complaint, or what makes the requests doubtful. */
function takeOther(draft: Draft, { clause, canonical }: Line): Draft {
  const isAfterRequest = draft.requests.length > 0;
  if (complains(canonical, isAfterRequest)) {
    return { ...draft, last: undefined };
  }
  const isDoubtful = draft.isDoubtful || spoils(canonical);
  const isTakenBack = isAfterRequest && takesBack(canonical, clause.question);
  return { ...draft, isDoubtful, requests: isTakenBack ? [] : draft.requests, last: undefined };
}

function takeAsking(draft: Draft, { clause, canonical, segment, index }: Line, asking: Asking): Draft {
  const isAfterRefusal = draft.last !== undefined && draft.last !== "request" && clause.join !== "sentence";
  // "don't cancel O-1003, refund O-1001" may refuse both; "instead" and "please" tell the second from the first.
  const isItsOwn = !isAfterRefusal || clause.join === "but" || /\b(?:instead|please)\b/.test(canonical);
  // "Refund O-1001? No way." only wonders; "Can you refund O-1001?" asks.
  const isBareQuestion = clause.question && !asking.isPoliteQuestion;
  // "Refund O-1001. Cancel that." takes the refund back.
  const takesBackRefund =
    asking.kind === "cancel" && segment.orders.length === 0 && draft.requests.some(({ kind }) => kind === "refund");
  if (!isItsOwn || takesBackRefund) {
    return { ...draft, isDoubtful: true };
  }
  if (isBareQuestion) {
    return { ...draft, last: undefined };
  }
  const request = { ...asking, sentence: clause.sentence, segments: [segment], clause: index };
  return { ...draft, requests: [...draft.requests, request], last: "request" };
}

/** A clause of nothing but "cancel" or "refund" is no request. */
function isBareWord(canonical: string): boolean {
  return canonical === "refund" || canonical === "cancel";
}

function isJoined({ join }: Clause, canonical: string): boolean {
  return (
    join === "comma" ||
    join === "and" ||
    join === "please" ||
    (join === "sentence" && /^(?:only|just)\b/.test(canonical))
  );
}

function withSegment(requests: readonly ReadRequest[], segment: Segment): readonly ReadRequest[] {
  const last = requests.at(-1);
  return last === undefined ? requests : [...requests.slice(0, -1), { ...last, segments: [...last.segments, segment] }];
}

function refusalsOf(kinds: readonly RequestKind[], { orders }: Segment): Reading["refused"] {
  return kinds.flatMap((kind) => orders.map((orderId) => ({ kind, orderId })));
}

// What the customer paid is not what they want back.
const PAID = /(?:out )?of (?:the|my) ⟦a\d+⟧/g;

function segmentOf(canonical: string, { orders, amounts }: Mentions): Segment {
  const marks = (text: string, letter: string) =>
    [...text.matchAll(new RegExp(`⟦${letter}(\\d+)⟧`, "g"))].map((match) => Number(match[1]));
  return {
    orders: marks(canonical, "o").flatMap((index) => orders[index]?.orderId ?? []),
    amounts: marks(canonical.replaceAll(PAID, ""), "a").flatMap((index) => amounts[index]?.paise ?? []),
    hasEach: /\beach\b/.test(canonical),
  };
}

const BEFORE_COLON =
  /^(?:(?:hi|hello|hey|dear|for|on|about|regarding|my|the|order|orders|number|id|please|request|issue|problem|team|support|sir|madam|and|i have changed my mind about|⟦o\d+⟧) ?)+$/;

/** "All orders but O-1001", "anything but cancel". */
function leavesOut(lines: readonly Line[]): boolean {
  return lines.some(
    ({ clause, index }) =>
      clause.join === "but" && /\b(?:all|any\w*|every\w*|nothing)(?: \w+)?$/.test(lines[index - 1]?.canonical ?? ""),
  );
}

/** A colon introduces somebody's words, unless what stands before it only names an order or greets. */
function hasUnreadColon(lines: readonly Line[]): boolean {
  return lines.some(({ clause, index }) => {
    const before = lines[index - 1];
    return clause.join === "colon" && before !== undefined && !BEFORE_COLON.test(before.canonical);
  });
}

/** True when the message speaks of refunding or cancelling at all. */
export function speaksOfRequests(message: string): boolean {
  return REQUEST_WORD.test(canonicalText(message, 0, message.length, { orders: [], amounts: [] }));
}
