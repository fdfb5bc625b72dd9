/** A piece of a message that says one thing. */
export interface Clause {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How it hangs on the clause before it. */
  readonly join: "first" | "sentence" | "comma" | "and" | "but" | "because" | "please" | "colon";
  /** Number of its sentence, from 0. */
  readonly sentence: number;
  /** Its sentence ends with a question mark. */
  readonly question: boolean;
}

// A dot after `Rs` ends no sentence, and a comma inside a number separates nothing.
const SENTENCE_END = String.raw`(?<![Rr][Ss])[.!?;…]+(?=\s|$)|\n+`;
const PAUSE = String.raw`,(?=\s)|\s[-–—]+(?=\s)|[–—]|:(?=\s)`;
const WORD = String.raw`\s(?:and|&|also|plus|then|but|so|however|although|though|while|because|since)(?=\s)`;
// "I don't need it any more please cancel it" is two clauses; "can you please" and "do not please" are not.
const PLEASE = String.raw`\s(?=(?:please|pls|plz|kindly)\s)(?<!\b(?:can|could|would|will|may|you|i|we|to|go|ahead)\s)`;
const BREAK = new RegExp(`${SENTENCE_END}|${PAUSE}|${WORD}|${PLEASE}`, "giu");

/** Splits a message into clauses at sentence ends, commas, dashes, colons and joining words, keeping their places. */
export function clausesOf(text: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  let sentence = 0;
  let join: Clause["join"] = "first";
  const push = (end: number): boolean => {
    const piece = text.slice(start, end);
    const trimmed = piece.trim();
    if (trimmed !== "") {
      const from = start + piece.indexOf(trimmed);
      const place = { start: from, end: from + trimmed.length };
      clauses.push({ text: trimmed, ...place, join, sentence, question: endsAsQuestion(text, end) });
    }
    return trimmed !== "";
  };
  for (const match of text.matchAll(BREAK)) {
    const isPushed = push(match.index);
    start = match.index + match[0].length;
    const next = match[0].includes("\n") ? "sentence" : joinOf(match[0].trim().toLowerCase());
    join = isPushed ? next : stronger(join, next);
    sentence += next === "sentence" ? 1 : 0;
  }
  push(text.length);
  return clauses;
}

/** Of ": please" the colon counts, of ", but" the word, and of ". Please" the end of the sentence. */
function stronger(before: Clause["join"], next: Clause["join"]): Clause["join"] {
  return next === "please" || before === "colon" ? before : next;
}

const JOINS: ReadonlyMap<string, Clause["join"]> = new Map([
  ["", "please"],
  [",", "comma"],
  [":", "colon"],
  ...["and", "&", "also", "plus", "then", "so"].map((word) => [word, "and"] as const),
  ...["but", "however", "although", "though", "while"].map((word) => [word, "but"] as const),
  ...["because", "since"].map((word) => [word, "because"] as const),
]);

function joinOf(separator: string): Clause["join"] {
  return /^[-–—]+$/.test(separator) ? "comma" : (JOINS.get(separator) ?? "sentence");
}

function endsAsQuestion(text: string, from: number): boolean {
  const rest = /^(?:[^.!?;…\n]|[.!?;…](?!\s|$|[.!?;…]))*([.!?;…]+)/u.exec(text.slice(from));
  return rest?.[1]?.includes("?") ?? false;
}
