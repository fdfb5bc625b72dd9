/** A stretch of text that can be read as it stands, or one code point that cannot, `count` times in a row. */
export type TextPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "line_end" }
  | { readonly kind: "code_point"; readonly codePoint: number; readonly count: number };

/**
 * What a reader cannot see or what changes how the text around it looks: controls, marks that reorder or hide text,
 * separators of lines, halves of surrogate pairs, private and unassigned characters, fillers that look like nothing.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/u;
const LINE_END = 10;
/** Room that a name such as `U+202E` takes. */
const NAME_CHARACTERS = 7;
/** More empty lines than this push what follows out of sight. */
const LINE_ENDS_IN_ROW_MAX = 2;

/** Cuts foreign text into what may be shown as it is and what must be named. A CRLF counts as one line end. */
export function textPieces(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain !== "") {
      pieces.push({ kind: "text", text: plain });
      plain = "";
    }
  };
  for (const { codePoint, count, character } of runsOf(text.replaceAll("\r\n", "\n"))) {
    if (!UNSEEN.test(character)) {
      plain += character.repeat(count);
      continue;
    }
    flush();
    if (codePoint === LINE_END && count <= LINE_ENDS_IN_ROW_MAX) {
      pieces.push(...Array.from({ length: count }, () => ({ kind: "line_end" as const })));
    } else {
      pieces.push({ kind: "code_point", codePoint, count });
    }
  }
  flush();
  return pieces;
}

/** `U+202E`, or `U+000A ×300` for a row of them. */
export function codePointName(codePoint: number, count: number = 1): string {
  const name = `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
  return count === 1 ? name : `${name} ×${count}`;
}

/** The text on one line, with what cannot be seen written out; for titles, attributes and downloads. */
export function plainLine(text: string, charactersMax: number): string {
  const shown = textPieces(text).map(lineText).join("");
  const characters = [...shown.slice(0, 2 * charactersMax + 2)];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax).join("")}…` : shown;
}

function lineText(piece: TextPiece): string {
  switch (piece.kind) {
    case "text":
      return piece.text;
    case "line_end":
      return " ";
    case "code_point":
      return `[${codePointName(piece.codePoint, piece.count)}]`;
  }
}

/**
 * The first pieces, up to so many characters and lines; the same list when all of them fit.
 *
 * A named code point takes the room of its name, however often it repeats: cutting must not make 300 line ends look
 * like five.
 */
export function cutPieces(pieces: readonly TextPiece[], charactersMax: number, linesMax: number): readonly TextPiece[] {
  let [characters, lines] = [0, 1];
  for (const [index, piece] of pieces.entries()) {
    const left = charactersMax - characters;
    if (piece.kind === "text" && piece.text.length > left) {
      return [...pieces.slice(0, index), { kind: "text", text: cutText(piece.text, left, 1) }];
    }
    characters += piece.kind === "text" ? piece.text.length : NAME_CHARACTERS;
    lines += piece.kind === "line_end" ? 1 : 0;
    if (lines > linesMax || characters > charactersMax) {
      return pieces.slice(0, index);
    }
  }
  return pieces;
}

/** The first `charactersMax` characters of a text and at most `linesMax` lines, never half a character. */
export function cutText(text: string, charactersMax: number, linesMax: number): string {
  const lines = text.split("\n", linesMax + 1);
  const few = lines.length > linesMax ? lines.slice(0, linesMax).join("\n") : text;
  if (few.length <= charactersMax) {
    return few;
  }
  const last = few.charCodeAt(charactersMax - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return few.slice(0, isHalf ? charactersMax - 1 : charactersMax);
}

interface CharacterRun {
  readonly character: string;
  readonly codePoint: number;
  count: number;
}

function* runsOf(text: string): Generator<CharacterRun> {
  let run: CharacterRun | undefined;
  for (const character of text) {
    if (run?.character === character) {
      run.count += 1;
      continue;
    }
    if (run !== undefined) {
      yield run;
    }
    run = { character, codePoint: character.codePointAt(0) ?? 0, count: 1 };
  }
  if (run !== undefined) {
    yield run;
  }
}
