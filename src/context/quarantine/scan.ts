import { type TagReading, wordsOf } from "./fold-text.ts";
import type { TriggerPattern } from "./triggers.ts";
import { windowsOf } from "./windows.ts";

/** What to look for, and how. */
export interface Scan {
  readonly patterns: readonly TriggerPattern[];
  readonly windowBytesMax: number;
  readonly readings: readonly TagReading[];
}

/** The patterns that could match somewhere, found without matching any: most results have none. */
export function suspects(text: string, scan: Scan): readonly TriggerPattern[] {
  const found = new Set<TriggerPattern>();
  for (const window of allWindows(text, scan)) {
    for (const pattern of scan.patterns) {
      if (!found.has(pattern) && window.includes(pattern.needle)) {
        found.add(pattern);
      }
    }
  }
  return [...found];
}

/** Whether a paragraph has a match; `before` is the break that it follows, or empty for the first one. */
export function hasMatch(before: string, paragraph: string, scan: Scan): boolean {
  for (const window of allWindows(paragraph, scan)) {
    const likely = scan.patterns.filter(({ needle }) => window.includes(needle));
    if (likely.length === 0) {
      continue;
    }
    const words = wordsOf(window);
    const signs = before + window;
    if (likely.some(({ reads, pattern }) => pattern.test(reads === "words" ? words : signs))) {
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
