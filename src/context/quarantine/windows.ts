import { foldText, type TagReading } from "./fold-text.ts";
import { MATCH_CHARACTERS_MAX } from "./triggers.ts";

// A unit of UTF-16 takes at most three bytes in UTF-8: a pair takes four.
const BYTES_PER_UNIT_MAX = 3;
/** A window ends at white space when some is so near its end, so that no word is cut in two. */
const WORD_SOUGHT_IN = 64;

/** The least that a window may hold, so that two of them advance by more than they overlap. */
export const WINDOW_BYTES_MIN = 1024;

/**
 * A text in folded pieces, each made of at most `bytesMax` bytes of it and of the end of the piece before.
 *
 * No copy of the whole text is made: one character can become eighteen when it is folded.
 */
export function* windowsOf(text: string, bytesMax: number, tags: TagReading): Generator<string, void> {
  const unitsMax = Math.floor(bytesMax / BYTES_PER_UNIT_MAX);
  let kept = "";
  for (let start = 0; start < text.length; ) {
    const end = endOfWindow(text, start, unitsMax);
    const window = kept + foldText(text.slice(start, end), tags);
    yield window;
    kept = endOf(window);
    start = end;
  }
}

function endOfWindow(text: string, start: number, unitsMax: number): number {
  const end = start + unitsMax;
  if (end >= text.length) {
    return text.length;
  }
  for (let at = end; at > end - WORD_SOUGHT_IN; at -= 1) {
    if (isSpace(text.charCodeAt(at - 1))) {
      return at;
    }
  }
  const last = text.charCodeAt(end - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return isHighSurrogate ? end - 1 : end;
}

function endOf(window: string): string {
  if (window.length <= MATCH_CHARACTERS_MAX) {
    return window;
  }
  const from = window.length - MATCH_CHARACTERS_MAX;
  for (let at = from; at > from - WORD_SOUGHT_IN && at > 0; at -= 1) {
    if (isSpace(window.charCodeAt(at - 1))) {
      return window.slice(at - 1);
    }
  }
  return window.slice(from);
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}
