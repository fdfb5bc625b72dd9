import type { JsonValue } from "../core/index.ts";

const SECRET_KEY =
  /pass(?:word|wd|phrase|code)|secret|token$|api[-_]?key|private[-_]?key|authorization|credential|cvv|cvc/i;
const REDACTED = "[redacted]";

/** True when a value under one of these keys should not be repeated in a message. */
export function isSecretPath(steps: readonly (string | number)[]): boolean {
  return steps.some((step) => typeof step === "string" && SECRET_KEY.test(step));
}

/** The JSON of a value, at most `charactersMax` long, without values of keys that sound like secrets. */
export function showValue(value: JsonValue, charactersMax: number): string {
  const json = JSON.stringify(value, (key, item: unknown) => (SECRET_KEY.test(key) ? REDACTED : item));
  return visible(json, charactersMax);
}

/** Text with invisible and control characters as visible escapes; letters of every language stay. */
export function visible(text: string, charactersMax: number): string {
  const cut = text.length > charactersMax;
  const shown = text
    .slice(0, charactersMax)
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return cut ? `${shown}...` : shown;
}
