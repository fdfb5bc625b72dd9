// Control characters, marks that reorder or hide text (bidirectional controls, zero-width characters, line and
// paragraph separators, tags), and halves of surrogate pairs: a terminal obeys them, and a reader does not see them.
const HOSTILE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Makes text from outside safe for a terminal line: what could steer the terminal is written as an escape. */
export function terminalText(text: string): string {
  return text.replace(HOSTILE, escapeOf);
}

/** As `terminalText`, but keeps line ends. */
export function terminalLines(text: string): string[] {
  return text.split(/\r?\n/).map(terminalText);
}

/** Writes JSON that a terminal can show: the same value, with what could steer the terminal as `\u` escapes. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent) ?? "null";
  // Line ends of the indentation are the only control characters that JSON.stringify leaves below U+0020.
  return text.replace(HOSTILE, (character) => (character === "\n" ? character : jsonEscapeOf(character)));
}

function escapeOf(character: string): string {
  switch (character) {
    case "\n":
      return "\\n";
    case "\t":
      return "\\t";
    default:
      return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  }
}

/** JSON has only four-digit escapes, so a character outside the first plane becomes a pair. */
function jsonEscapeOf(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}
