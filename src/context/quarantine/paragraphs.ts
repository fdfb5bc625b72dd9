import { foldText } from "./fold-text.ts";
import { hasMatch, type Scan } from "./scan.ts";

/** Stands where a paragraph was removed. */
export const QUARANTINE_MARKER = "[quarantined by harness: instruction-like content removed]";

/** Ends of lines, those of Unicode included; captured, so that what stays keeps its own. */
export const LINE_ENDS: RegExp = /(\r\n|[\n\r\v\f\x85\u2028\u2029])/;

const VISIBLE = /[!-~]/;
const BLANK_CHARACTERS_MAX = 256;

/** The text with a marker for each paragraph that matches, and how many lines these had. */
export function withoutMatches(text: string, scan: Scan): { readonly text: string; readonly lines: number } {
  const parts = text.split(LINE_ENDS);
  const kept: string[] = [];
  let removed = 0;
  let at = 0;
  while (at < parts.length) {
    // Lines stand at even places, each with its end after it.
    const isBlankLine = isBlank(parts[at] ?? "");
    const end = isBlankLine ? at : lastLine(parts, at);
    const own = parts.slice(at, end + 1).join("");
    if (!isBlankLine && hasMatch(at === 0 ? "" : " ", own, scan)) {
      kept.push(QUARANTINE_MARKER);
      removed += (end - at) / 2 + 1;
    } else {
      kept.push(own);
    }
    kept.push(parts[end + 1] ?? "");
    at = end + 2;
  }
  return { text: kept.join(""), lines: removed };
}

function lastLine(parts: readonly string[], first: number): number {
  let last = first;
  while (last + 2 < parts.length && !isBlank(parts[last + 2] ?? "")) {
    last += 2;
  }
  return last;
}

/** A long line is taken as one that shows something: then it only joins two paragraphs. */
function isBlank(line: string): boolean {
  return !VISIBLE.test(line) && line.length <= BLANK_CHARACTERS_MAX && foldText(line, "drop").trim() === "";
}
