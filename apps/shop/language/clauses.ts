/** A piece of a message that says one thing. */
export interface Clause {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How it hangs on the clause before it. */
  readonly join: "first" | "sentence" | "comma" | "and" | "but";
  /** Its sentence ends with a question mark. */
  readonly question: boolean;
}

// A dot after `Rs` ends no sentence, and a comma inside a number separates nothing.
const BREAK = /(?<![Rr][Ss])[.!?;]+(?=\s|$)|\n+|,(?=\s)|\s(?:and|also|plus|then|but|instead)(?=\s)/giu;

/** Splits a message into clauses at sentence ends, commas and joining words, keeping their places. */
export function clausesOf(text: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  let join: Clause["join"] = "first";
  const push = (end: number): void => {
    const piece = text.slice(start, end);
    const trimmed = piece.trim();
    if (trimmed !== "") {
      const from = start + piece.indexOf(trimmed);
      clauses.push({
        text: trimmed,
        start: from,
        end: from + trimmed.length,
        join,
        question: endsAsQuestion(text, end),
      });
    }
  };
  for (const match of text.matchAll(BREAK)) {
    push(match.index);
    start = match.index + match[0].length;
    join = joinOf(match[0].trim().toLowerCase());
  }
  push(text.length);
  return clauses;
}

function joinOf(separator: string): Clause["join"] {
  switch (separator) {
    case ",":
      return "comma";
    case "and":
    case "also":
    case "plus":
    case "then":
      return "and";
    case "but":
    case "instead":
      return "but";
    default:
      return "sentence";
  }
}

function endsAsQuestion(text: string, from: number): boolean {
  const rest = /^[^.!?;\n]*([.!?;]+)/.exec(text.slice(from));
  return rest?.[1]?.includes("?") ?? false;
}
