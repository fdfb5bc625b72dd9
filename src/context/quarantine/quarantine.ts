import type { JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { Filter } from "../filter.ts";
import { freeKey } from "../strip-invisible.ts";
import { hasTagCharacters } from "./fold-text.ts";
import { withoutMatches } from "./paragraphs.ts";
import { type Scan, suspects } from "./scan.ts";
import { DEFAULT_TRIGGERS, type QuarantineTrigger, TRIGGER_PATTERNS } from "./triggers.ts";
import { WINDOW_BYTES_MIN } from "./windows.ts";

export interface QuarantineOptions {
  /** Which phrases count. Default `DEFAULT_TRIGGERS`. */
  readonly triggers?: readonly QuarantineTrigger[];
  /** Bytes of UTF-8 that are matched at once, from 1,024. Windows overlap, so nothing is missed. Default 16,384. */
  readonly windowBytesMax?: number;
}

/**
 * Removes paragraphs that look like instructions from every string and key of a result.
 *
 * It is telemetry and a mark of taint, never the boundary: it misses every paraphrase, another language, and a phrase
 * that is encoded or split over paragraphs, and it removes honest text that uses such a phrase. What the model may do
 * is decided by rules, whatever it has read. List it before `stripInvisible`, whose characters it looks at, and before
 * `sizeCap`, which makes one line of a result.
 *
 * A paragraph is what stands between blank lines; `QUARANTINE_MARKER` takes its place. The note is `{ lines }`, the
 * number of lines removed, with `flags: ["tag_chars"]` when there is invisible text in tag characters.
 *
 * Throws `BELAY_FILTER_INVALID` for an unknown trigger, no trigger, or a window that is too small.
 */
export function quarantine(options: QuarantineOptions = {}): Filter {
  const { triggers = DEFAULT_TRIGGERS, windowBytesMax = 16_384 } = options;
  checkOptions(triggers, windowBytesMax);
  const patterns = TRIGGER_PATTERNS.filter(({ trigger }) => triggers.includes(trigger));
  return {
    id: "quarantine",
    apply(value) {
      const texts: string[] = [];
      collectTexts(value, texts);
      const all = texts.join("\n");
      const hasTags = hasTagCharacters(all);
      const scan: Scan = { patterns, windowBytesMax, readings: hasTags ? ["drop", "read"] : ["drop"] };
      const suspected = suspects(all, scan);
      const cleaned =
        suspected.length === 0 ? { value, lines: 0 } : cleanedValue(value, { ...scan, patterns: suspected });
      if (cleaned.lines === 0 && !hasTags) {
        return { value };
      }
      const note = { lines: cleaned.lines, ...(hasTags ? { flags: ["tag_chars"] } : {}) };
      return { value: cleaned.value, note };
    },
  };
}

function checkOptions(triggers: readonly QuarantineTrigger[], windowBytesMax: number): void {
  const unknown = triggers.find((name) => TRIGGER_PATTERNS.every(({ trigger }) => trigger !== name));
  if (unknown !== undefined || triggers.length === 0) {
    throw new BelayError(
      "BELAY_FILTER_INVALID",
      unknown === undefined
        ? 'The filter "quarantine" has no triggers and would do nothing. Name some, or leave the filter out.'
        : `The filter "quarantine" has the trigger ${JSON.stringify(String(unknown).slice(0, 80))}, which does not ` +
            `exist. Use some of ${TRIGGER_PATTERNS.map(({ trigger }) => trigger).join(", ")}.`,
    );
  }
  if (!Number.isSafeInteger(windowBytesMax) || windowBytesMax < WINDOW_BYTES_MIN) {
    throw new BelayError(
      "BELAY_FILTER_INVALID",
      `The filter "quarantine" has the windowBytesMax ${String(windowBytesMax)}. ` +
        `Use a whole number from ${WINDOW_BYTES_MIN}.`,
    );
  }
}

function collectTexts(value: JsonValue, texts: string[]): void {
  if (typeof value === "string") {
    texts.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) {
      collectTexts(item, texts);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      texts.push(key);
      collectTexts(item, texts);
    }
  }
}

function cleanedValue(whole: JsonValue, scan: Scan): { readonly value: JsonValue; readonly lines: number } {
  let lines = 0;
  const cleanText = (text: string) => {
    const cleaned = withoutMatches(text, scan);
    lines += cleaned.lines;
    return cleaned.text;
  };
  const clean = (value: JsonValue): JsonValue => {
    if (typeof value === "string") {
      return cleanText(value);
    }
    if (Array.isArray(value)) {
      return value.map(clean);
    }
    if (typeof value !== "object" || value === null) {
      return value;
    }
    const fields = new Map<string, JsonValue>();
    for (const [key, item] of Object.entries(value)) {
      fields.set(freeKey(fields, cleanText(key)), clean(item));
    }
    return Object.fromEntries(fields);
  };
  return { value: clean(whole), lines };
}
