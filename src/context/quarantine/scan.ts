import type { TagReading } from "./fold-text.ts";
import { GAP_CHARACTERS_MAX, type TriggerPattern } from "./triggers.ts";
import { windowsOf } from "./windows.ts";

/** What to look for, and how. */
export interface Scan {
  readonly patterns: readonly TriggerPattern[];
  readonly windowBytesMax: number;
  readonly readings: readonly TagReading[];
}

/**
 * The patterns whose parts are somewhere in a text, near to each other or not. Most results have none, and need no
 * look at their paragraphs.
 */
export function suspects(text: string, scan: Scan): readonly TriggerPattern[] {
  const found = new Set<TriggerPattern>();
  for (const window of allWindows(text, scan)) {
    for (const pattern of scan.patterns) {
      if (!found.has(pattern) && hasParts(pattern, window)) {
        found.add(pattern);
      }
    }
  }
  return [...found];
}

/** Whether a paragraph has a match; `before` is the white space that it follows, or empty for the first one. */
export function hasMatch(before: string, paragraph: string, scan: Scan): boolean {
  for (const window of allWindows(paragraph, scan)) {
    const text = before + window;
    if (scan.patterns.some((pattern) => hasParts(pattern, text) && arePartsNear(pattern, text))) {
      return true;
    }
  }
  return false;
}

function hasParts({ needle, pattern, then }: TriggerPattern, text: string): boolean {
  return text.includes(needle) && text.search(pattern) !== -1 && (then === undefined || text.search(then) !== -1);
}

function arePartsNear({ pattern, then }: TriggerPattern, text: string): boolean {
  if (then === undefined) {
    return true;
  }
  // Both lists are in order, so one walk over the two is enough.
  const ends = Array.from(text.matchAll(then), ({ index }) => index);
  let next = 0;
  for (const { index, 0: start } of text.matchAll(pattern)) {
    const from = index + start.length;
    while (next < ends.length && (ends[next] ?? 0) < from) {
      next += 1;
    }
    if (next < ends.length && (ends[next] ?? 0) - from <= GAP_CHARACTERS_MAX) {
      return true;
    }
  }
  return false;
}

function* allWindows(text: string, scan: Scan): Generator<string, void> {
  for (const reading of scan.readings) {
    yield* windowsOf(text, scan.windowBytesMax, reading);
  }
}
