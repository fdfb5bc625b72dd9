/**
 * Shows foreign text in a message: printable ASCII stays, everything else becomes a visible escape like `\u{200b}`.
 *
 * Two texts that differ always look different. Longer ones than `charactersMax` end in `...`.
 */
export function printable(text: string, charactersMax = 120): string {
  let shown = "";
  for (const character of text) {
    if (shown.length >= charactersMax) {
      return `${shown}...`;
    }
    shown += /^[ -[\]-~]$/.test(character) ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`;
  }
  return shown;
}

/** Writes where a value is inside another, like `items[2].name`; `<root>` for the whole. */
export function renderPath(steps: readonly (string | number)[]): string {
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") {
      path += `[${step}]`;
    } else if (/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(step)) {
      path += path === "" ? step : `.${step}`;
    } else {
      path += `["${printable(step, 64).replaceAll('"', "\\u{22}")}"]`;
    }
  }
  return path === "" ? "<root>" : path;
}
