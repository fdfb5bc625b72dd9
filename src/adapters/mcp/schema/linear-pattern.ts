import { RE2JS } from "re2js";

const PATTERN_CHARACTERS_MAX = 512;

export interface LinearPattern {
  test(text: string): boolean;
}

/**
 * Compiles a regular expression for an engine whose time grows only linearly with the text (RE2).
 *
 * Throws for what such an engine cannot do: lookaround and back references. `\s` and `\b` know ASCII alone.
 */
export function compilePattern(pattern: string): LinearPattern {
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    throw new TypeError(`a pattern of ${pattern.length} characters is longer than ${PATTERN_CHARACTERS_MAX}`);
  }
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.matcher(text).find() };
}

/** Why a pattern is refused; `undefined` when it can be used. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compilePattern(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 160) : "it cannot be compiled";
  }
}
