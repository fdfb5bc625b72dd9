import { hash } from "node:crypto";

const NUL = "\u0000";
const ESCAPE = "\u0001";
const ESCAPED = new RegExp(`${ESCAPE}([${ESCAPE}\u0002]|\u0003[0-9a-f]{4})`, "g");

/**
 * The form in which a text is stored: PostgreSQL's `text` cannot hold NUL, and its UTF-8 no lone surrogate.
 *
 * Every other text stays as it is. Two texts never get the same form, and bytewise order is kept.
 */
export function encodeText(text: string): string {
  let encoded = text;
  if (text.includes(ESCAPE) || text.includes(NUL)) {
    encoded = encoded.replaceAll(ESCAPE, `${ESCAPE}\u0002`).replaceAll(NUL, ESCAPE + ESCAPE);
  }
  return encoded.isWellFormed() ? encoded : Array.from(encoded, encodeSurrogate).join("");
}

/** Reads what `encodeText` made. */
export function decodeText(encoded: string): string {
  return encoded.includes(ESCAPE) ? encoded.replace(ESCAPED, decodeOne) : encoded;
}

const KEY_CHARACTERS_MAX = 128;

/** Stands for an id of any length in an index, whose rows may not exceed a third of a page. */
export function indexKey(id: string): string {
  return id.length <= KEY_CHARACTERS_MAX && !id.startsWith("#") ? id : `#${hash("sha256", encodeText(id))}`;
}

function encodeSurrogate(character: string): string {
  return character.isWellFormed() ? character : `${ESCAPE}\u0003${character.charCodeAt(0).toString(16)}`;
}

function decodeOne(_all: string, code: string): string {
  switch (code[0]) {
    case ESCAPE:
      return NUL;
    case "\u0002":
      return ESCAPE;
    default:
      return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  }
}
