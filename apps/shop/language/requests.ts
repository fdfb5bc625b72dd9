import { type Clause, clausesOf } from "./clauses.ts";

export type RequestKind = "refund" | "cancel";

/** A clause and what it asks to be done. */
export interface RequestClause extends Clause {
  readonly asks: readonly RequestKind[];
}

interface Vocabulary {
  readonly kind: RequestKind;
  /** Verb or noun that can ask for the thing. */
  readonly base: RegExp;
  /** Form that asks only after a word of wanting: "I want it refunded". */
  readonly participle: RegExp;
}

const VOCABULARIES: readonly Vocabulary[] = [
  {
    kind: "refund",
    base: /\b(?:refund(?:s|ing)?|reimburse(?:ment)?|repay|money back|(?:give|pay|send) (?:me |us )?back|[0-9][0-9,.]*(?: ?(?:rs\.?|rupees?|inr)|\/-)? back)\b/g,
    participle: /\b(?:refunded|reimbursed|paid back)\b/g,
  },
  {
    kind: "cancel",
    base: /\b(?:cancel(?:l?ing|lation|ation)?|call off)\b/g,
    participle: /\b(?:cancell?ed|called off)\b/g,
  },
];

const FILLER =
  "(?:want|wish|need|like|ask|asked|asking|request|requested|require|you|me|us|to|for|a|an|any|the|my|that|it|be|should|think|ever|go|ahead|get|have|see|or|nor|cancel|refund)";
const NEGATED = new RegExp(String.raw`(?:\b(?:not|never|no|without|cannot)|n't|\bdont)(?:\s${FILLER}\b)*\s*$`);
const HEDGED = /\b(?:i|we)(?:'ll| will| might| may)(?: \w+){0,2} $/;
const MENTIONED =
  /\b(?:got|received|undo|revert|reverse|withdraw|stop|thanks for|thank you for|about|regarding|of|track(?:ing)?|waiting for|awaiting|after|before|your)(?: (?:my|the|a|this|that|your|any|rs\.?|inr))? ₹?$/;
const TOPIC_AFTER =
  /^\s+(?:polic(?:y|ies)|window|rules?|status|terms?|period|process|procedure|conditions?|deadline|fees?|charges?|receipt|confirmation|was|were|is|has|went|came|arrived|work|works)\b/;
const WANTING = /\b(?:want|like|need|needs|get|please|kindly|(?:must|should|has to|needs to) be)\b/;
const POLITE = /\b(?:please|kindly)\b/;
const ASKING_POLITELY = /^(?:is it possible|is there (?:a|any) way|are you able)\b/;
const INFORMATION = /^(?:what|why|how|where|who|did|was|were|does|whether)\b/;
const INFORMATION_IF_QUESTION = /^(?:when|is|are|am|has|have|had|do|which)\b/;
const QUOTED = /"[^"]*"|“[^”]*”/g;

/**
 * Reads a customer's own words clause by clause and tells which clauses ask for a refund or a cancellation.
 *
 * Plain rules, no model: a negation ("don't cancel"), a question for information ("was it refunded?"), a topic
 * ("refund policy") and three or more quoted words ask for nothing. In doubt the answer is no.
 */
export function requestClauses(message: string): readonly RequestClause[] {
  const text = normalise(message);
  let negatedBefore: readonly RequestKind[] = [];
  return clausesOf(text).map((clause) => {
    const found = VOCABULARIES.flatMap((vocabulary) => judge(clause, vocabulary));
    // "don't cancel and refund it" refuses both.
    const carried = clause.join === "and" ? negatedBefore : [];
    negatedBefore = found.filter(({ verdict }) => verdict === "negated").map(({ kind }) => kind);
    const asks = carried.length > 0 ? [] : found.filter(({ verdict }) => verdict === "asks").map(({ kind }) => kind);
    if (carried.length > 0 && found.length > 0) {
      negatedBefore = carried;
    }
    return { ...clause, text: message.slice(clause.start, clause.end), asks };
  });
}

/** What the message asks for anywhere in it. */
export function requestsIn(message: string): ReadonlySet<RequestKind> {
  return new Set(requestClauses(message).flatMap(({ asks }) => asks));
}

interface Judged {
  readonly kind: RequestKind;
  readonly verdict: "asks" | "negated" | "mentions";
}

function judge(clause: Clause, { kind, base, participle }: Vocabulary): readonly Judged[] {
  const informs = isInformation(clause);
  const judged: Judged[] = [];
  for (const match of clause.text.matchAll(base)) {
    const before = clause.text.slice(0, match.index);
    const after = clause.text.slice(match.index + match[0].length);
    judged.push({ kind, verdict: informs ? "mentions" : verdictOf(before, after) });
  }
  for (const match of clause.text.matchAll(participle)) {
    const before = clause.text.slice(0, match.index);
    const wanted = !informs && WANTING.test(before);
    judged.push({ kind, verdict: !wanted ? "mentions" : NEGATED.test(before) ? "negated" : "asks" });
  }
  const strongest = (["negated", "asks", "mentions"] as const).find((verdict) =>
    judged.some((one) => one.verdict === verdict),
  );
  return strongest === undefined ? [] : [{ kind, verdict: strongest }];
}

function verdictOf(before: string, after: string): Judged["verdict"] {
  if (NEGATED.test(before)) {
    return "negated";
  }
  return HEDGED.test(before) || MENTIONED.test(before) || TOPIC_AFTER.test(after) ? "mentions" : "asks";
}

function isInformation({ text, question }: Clause): boolean {
  if (POLITE.test(text) || ASKING_POLITELY.test(text)) {
    return false;
  }
  return INFORMATION.test(text) || (question && INFORMATION_IF_QUESTION.test(text));
}

/** Lower case, straight apostrophes and blanked quotations, at the same length so that places stay true. */
function normalise(message: string): string {
  return message
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll("’", "'")
    .replaceAll(QUOTED, (quoted) => (quoted.trim().split(/\s+/).length >= 3 ? " ".repeat(quoted.length) : quoted));
}
