const WHOLE = new Intl.NumberFormat("en");
const NANO_USD = 1e9;

/** `12,345`. */
export function countText(value: number): string {
  return WHOLE.format(value);
}

/** Nano-dollars as `$0.0042`; `unknown` when a price was unknown, which is never zero. */
export function costText(nanoUsd: number | undefined): string {
  if (nanoUsd === undefined) {
    return "unknown";
  }
  const usd = nanoUsd / NANO_USD;
  const digits = usd !== 0 && Math.abs(usd) < 1 ? 4 : 2;
  return usd !== 0 && Math.abs(usd) < 0.0001 ? "< $0.0001" : `$${usd.toFixed(digits)}`;
}

/** `95.0 %`; `none` of nothing. */
export function shareText(part: number, total: number): string {
  return total === 0 ? "none" : `${((100 * part) / total).toFixed(1)} %`;
}

/** The middle value; undefined of nothing. */
export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined) {
    return undefined;
  }
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2;
}
