import { BelayError } from "../errors.ts";
import type { Filter } from "./filter.ts";

export interface SizeCapOptions {
  /** Characters of JSON text (of the text itself for a string) that stay. Default 16,000. */
  readonly charactersMax?: number;
}

/**
 * Cuts a result that is too long for the model and says how much is missing.
 *
 * Throws `BELAY_FILTER_INVALID` when `charactersMax` is not a whole number from 1.
 */
export function sizeCap({ charactersMax = 16_000 }: SizeCapOptions = {}): Filter {
  if (!Number.isSafeInteger(charactersMax) || charactersMax < 1) {
    throw new BelayError(
      "BELAY_FILTER_INVALID",
      `The filter "size_cap" has the charactersMax ${String(charactersMax)}. Use a whole number from 1.`,
    );
  }
  return {
    id: "size_cap",
    apply(value) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (text.length <= charactersMax) {
        return { value };
      }
      const kept = cut(text, charactersMax);
      const leftOut = text.length - kept.length;
      return { value: `${kept} [${leftOut} characters left out by the harness]`, note: { leftOut } };
    },
  };
}

/** The beginning of a text, without half of a surrogate pair at its end. */
function cut(text: string, charactersMax: number): string {
  const last = text.charCodeAt(charactersMax - 1);
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHighSurrogate ? charactersMax - 1 : charactersMax);
}
