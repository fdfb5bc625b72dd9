/** How tag characters (U+E0020 to U+E007E), which spell invisible ASCII, are taken: left out, or read as that ASCII. */
export type TagReading = "drop" | "read";

// Letters of other scripts that look like a Latin one. Capitals and small letters differ: H looks like Cyrillic EN,
// and Greek small eta like n.
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  [
    ["АВЕЅІЈКМНОРСТУХԌԚԜ", "ABESIJKMHOPCTYXGQW"],
    ["авеѕіјкмнорстухһԁԛԝԍ", "abesijkmhopctyxhdqwg"],
    ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"],
    ["αεηικνορτυχω", "aenikvoptuxw"],
    ["օոսհցԼ", "onuhgL"],
    ["ıɑɡɩʟ", "iagil"],
  ].flatMap(([from = "", to = ""]) => [...from].map((letter, at) => [letter, to[at] ?? ""] as const)),
);

const NOT_PLAIN = /[^\t\n\r -~]/;
const FOREIGN = /[^\0-\x7f]+/g;
const TAGS = /[\u{e0020}-\u{e007e}]+/gu;
// Marks hold variation selectors and strike-through; format characters hold zero-width, bidi, soft hyphen and tags.
const UNSEEN = /[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}\x80-\x84\x86-\x9f]/gu;
const LOOKALIKE = new RegExp(`[${[...LOOKALIKES.keys()].join("")}]`, "g");
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters between letters are a way to hide a word
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f]/g;
const SPACES = /\s\s+/g;

/** Every pattern here that reads foreign text, so that all can be checked for their running time. */
export const FOLD_PATTERNS: readonly RegExp[] = [NOT_PLAIN, FOREIGN, TAGS, UNSEEN, LOOKALIKE, CONTROLS, SPACES];

/** Longer runs, whole texts in another script for instance, hardly ever come twice. */
const REMEMBERED_RUN_MAX = 8;

/**
 * A copy of a text for matching: lower case, compatibility forms of NFKC as plain letters, and without accents,
 * characters that nobody sees, look-alikes of Latin letters and runs of white space.
 */
export function foldText(text: string, tags: TagReading): string {
  return (NOT_PLAIN.test(text) ? foldLetters(text, tags) : text).replace(SPACES, " ").toLowerCase();
}

/** Whether a text has tag characters, which have no use outside of three flags. */
export function hasTagCharacters(text: string): boolean {
  // The half of a pair that all of them begin with; looking for it is much faster than a pattern.
  return text.includes("\udb40") && text.search(TAGS) !== -1;
}

function foldLetters(text: string, tags: TagReading): string {
  const known = new Map<string, string>();
  const folded = text.replace(FOREIGN, (run) => {
    if (run.length > REMEMBERED_RUN_MAX) {
      return foldForeign(run, tags);
    }
    const fresh = known.get(run) ?? foldForeign(run, tags);
    known.set(run, fresh);
    return fresh;
  });
  return folded.replace(CONTROLS, "");
}

function foldForeign(run: string, tags: TagReading): string {
  const read = tags === "read" ? run.replace(TAGS, (spelled) => ` ${asciiOfTags(spelled)} `) : run;
  // Not composed again as NFKC would do, so that the accents can be left out.
  return read
    .normalize("NFKD")
    .replace(UNSEEN, "")
    .replace(LOOKALIKE, (letter) => LOOKALIKES.get(letter) ?? letter);
}

function asciiOfTags(spelled: string): string {
  return String.fromCodePoint(...[...spelled].map((tag) => (tag.codePointAt(0) ?? 0) - 0xe0000));
}
