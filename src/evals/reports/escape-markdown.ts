const SPECIAL = /[&<>|\\`*_[\]()#~@!:$]/g;

/**
 * Makes a text plain in GitHub's Markdown, in a table too: no markup, no link, no mention, and one line.
 *
 * Results hold what models and customers wrote; a comment must not speak for them.
 */
export function escapeMarkdown(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(SPECIAL, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/www\./gi, (match) => `${match.slice(0, 3)}&#46;`);
}
