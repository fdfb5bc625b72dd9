/**
 * Words of a text for searching: lower case, numbers and codes such as `SKU-1008` whole, plurals as singulars.
 */
export function termsOf(text: string): readonly string[] {
  return (text.toLowerCase().match(/[a-z0-9]+(?:[-.][a-z0-9]+)*/g) ?? []).map(singular);
}

function singular(word: string): string {
  if (word.length <= 3 || /\d|ss$|us$/.test(word)) {
    return word;
  }
  return word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.replace(/s$/, "");
}
