import type { JsonValue } from "../../core/index.ts";

// Everything that a reader does not see and a model does: format characters (zero-width, bidi, tags), fillers,
// variation selectors, unassigned and private characters, and controls other than tab and line feed.
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|[\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?![\t\n])\p{Cc}/gu;

/** True when a text holds a character that people do not see. */
export function hasInvisible(text: string): boolean {
  return text.search(INVISIBLE) !== -1;
}

/** A text of an outsider without invisible and control characters, at most `charactersMax` long. */
export function cleanText(text: string, charactersMax: number): string {
  // Cut first, so that a huge text costs nothing; twice the length, because cleaning only shortens.
  const cleaned = text
    .slice(0, charactersMax * 2)
    .replace(INVISIBLE, "")
    .trim();
  return cleaned.length > charactersMax ? `${cleaned.slice(0, charactersMax - 1).toWellFormed()}…` : cleaned;
}

/** `cleanText` for every string of a value; keys that hold invisible characters are left out. */
export function cleanTexts(value: JsonValue, charactersMax: number): JsonValue {
  if (typeof value === "string") {
    return cleanText(value, charactersMax);
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => cleanTexts(item, charactersMax));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const entries = Object.entries(value).filter(([key]) => !hasInvisible(key));
  return Object.fromEntries(entries.map(([key, item]) => [key, cleanTexts(item, charactersMax)]));
}

/** True when any string or key of a value holds a character that people do not see. */
export function hasInvisibleAnywhere(value: JsonValue): boolean {
  if (typeof value === "string") {
    return hasInvisible(value);
  }
  if (Array.isArray(value)) {
    return value.some((item: JsonValue) => hasInvisibleAnywhere(item));
  }
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).some(([key, item]) => hasInvisible(key) || hasInvisibleAnywhere(item))
  );
}
