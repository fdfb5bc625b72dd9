/** Whether a text holds a fact somewhere, as the published metric looks for it: anywhere, also inside another word. */
export function holdsFact(text: string, fact: string): boolean {
  return text.toLowerCase().includes(fact.toLowerCase());
}

/** Ids of things, such as `SKU-1008`. */
const ID = /\b[A-Z]{2,5}-\d{2,}\b/g;

/**
 * Whether a text says a fact of the thing that was asked about.
 *
 * The fact must stand as a whole: `64` is neither in `$64.00` nor in `1,064`. When the question names ids, it must
 * also stand in a part of the text that speaks of one of them, or of nothing that has an id; a part without an id speaks
 * of what the part before does. Parts end at a full stop, question mark, exclamation mark or semicolon.
 */
export function holdsBoundFact(text: string, fact: string, question: string): boolean {
  const asked = idsIn(question);
  const whole = new RegExp(
    `(?<![\\p{L}\\p{N}$€£]|[\\p{N}][.,])${escapePattern(fact)}(?![\\p{L}\\p{N}]|[.,]\\p{N})`,
    "iu",
  );
  const isItself = idsIn(fact).size > 0;
  let about: ReadonlySet<string> = new Set();
  for (const part of text.split(/(?<=[.;!?])\s+/)) {
    const named = idsIn(part);
    about = named.size > 0 ? named : about;
    const isAboutAsked = isItself || asked.size === 0 || about.size === 0 || [...asked].some((id) => about.has(id));
    if (isAboutAsked && whole.test(part)) {
      return true;
    }
  }
  return false;
}

function idsIn(text: string): Set<string> {
  return new Set(text.match(ID) ?? []);
}

function escapePattern(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}/]/g, "\\$&");
}
