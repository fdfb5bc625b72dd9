import type { JsonValue } from "../core/index.ts";
import type { Filter } from "./filter.ts";

// Zero-width characters, soft hyphen, bidi controls, fillers, variation selectors and the tag block: a reader sees
// none of them, a model reads them all. Listed by code point, since a class in a pattern would join them.
const RANGES: readonly (readonly [number, number])[] = [
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe0fff],
];

const DECODED_MAX = 200;

interface Removal {
  removed: number;
  /** What tag characters spell, which is a message hidden on purpose. */
  decodedTags: string;
}

/**
 * Removes characters that people cannot see from every string and key of a result.
 *
 * The note has `removed` (code points) and, when tag characters spelled something, `decodedTags` (at most 200
 * characters). Emoji that are joined by such characters fall apart into their parts.
 */
export function stripInvisible(): Filter {
  return {
    id: "strip_invisible",
    apply(value) {
      const removal: Removal = { removed: 0, decodedTags: "" };
      const stripped = stripValue(value, removal);
      if (removal.removed === 0) {
        return { value };
      }
      const { removed, decodedTags } = removal;
      return { value: stripped, note: decodedTags === "" ? { removed } : { removed, decodedTags } };
    },
  };
}

function stripValue(value: JsonValue, removal: Removal): JsonValue {
  if (typeof value === "string") {
    return stripText(value, removal);
  }
  if (Array.isArray(value)) {
    return value.map((item: JsonValue) => stripValue(item, removal));
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  const stripped = new Map<string, JsonValue>();
  for (const [key, item] of Object.entries(value)) {
    stripped.set(freeKey(stripped, stripText(key, removal)), stripValue(item, removal));
  }
  return Object.fromEntries(stripped);
}

/** Two keys may become equal, and neither value may be lost; a key may also become one that is not allowed. */
export function freeKey(taken: ReadonlyMap<string, JsonValue>, key: string): string {
  const safe = key === "__proto__" ? "(__proto__)" : key;
  let free = safe;
  for (let count = 2; taken.has(free); count += 1) {
    free = `${safe}#${count}`;
  }
  return free;
}

function stripText(text: string, removal: Removal): string {
  // Most texts are plain ASCII, and need no second look.
  if (!/[^\n\r\t -~]/.test(text)) {
    return text;
  }
  let stripped = "";
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (!isInvisible(point)) {
      stripped += character;
      continue;
    }
    removal.removed += 1;
    if (point >= 0xe0020 && point <= 0xe007e && removal.decodedTags.length < DECODED_MAX) {
      removal.decodedTags += String.fromCodePoint(point - 0xe0000);
    }
  }
  return stripped;
}

function isInvisible(point: number): boolean {
  return RANGES.some(([first, last]) => point >= first && point <= last);
}
