/** How a number between two others is rounded; `half_even` is the banker's way, `half_up` goes away from zero at a half. */
export type Rounding = "ceiling" | "down" | "floor" | "half_down" | "half_even" | "half_up" | "up";

export const ROUNDINGS: readonly Rounding[] = [
  "ceiling",
  "down",
  "floor",
  "half_down",
  "half_even",
  "half_up",
  "up",
] satisfies Rounding[];

/** An exact number, always in lowest terms with a positive denominator. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

function rational(numerator: bigint, denominator: bigint): Rational {
  const sign = denominator < 0n ? -1n : 1n;
  const divisor = greatestCommonDivisor(numerator < 0n ? -numerator : numerator, denominator * sign);
  return { numerator: (numerator * sign) / divisor, denominator: (denominator * sign) / divisor };
}

/** Reads digits with at most one point, such as `12.50`; the caller has checked that it is nothing else. */
export function parseDecimal(text: string): Rational {
  const [whole = "", fraction = ""] = text.split(".");
  return rational(BigInt(whole + fraction), 10n ** BigInt(fraction.length));
}

export function add(one: Rational, other: Rational): Rational {
  return rational(
    one.numerator * other.denominator + other.numerator * one.denominator,
    one.denominator * other.denominator,
  );
}

export function negate({ numerator, denominator }: Rational): Rational {
  return { numerator: -numerator, denominator };
}

export function multiply(one: Rational, other: Rational): Rational {
  return rational(one.numerator * other.numerator, one.denominator * other.denominator);
}

/** The divisor must not be zero. */
export function divide(one: Rational, other: Rational): Rational {
  return rational(one.numerator * other.denominator, one.denominator * other.numerator);
}

export function round(value: Rational, places: number, rounding: Rounding): Rational {
  const scale = 10n ** BigInt(places);
  const scaled = value.numerator * scale;
  const isNegative = scaled < 0n;
  const magnitude = isNegative ? -scaled : scaled;
  const quotient = magnitude / value.denominator;
  const rest = magnitude % value.denominator;
  const away = rest > 0n && goesAway(rounding, { isNegative, isOdd: quotient % 2n === 1n, half: half(rest, value) });
  const rounded = away ? quotient + 1n : quotient;
  return rational(isNegative ? -rounded : rounded, scale);
}

/** Whether the rest is less than a half (negative), exactly a half (0) or more. */
function half(rest: bigint, { denominator }: Rational): number {
  const twice = rest * 2n;
  if (twice === denominator) return 0;
  return twice < denominator ? -1 : 1;
}

interface Between {
  readonly isNegative: boolean;
  readonly isOdd: boolean;
  readonly half: number;
}

/** Whether a number with a rest is rounded away from zero. */
function goesAway(rounding: Rounding, { isNegative, isOdd, half }: Between): boolean {
  switch (rounding) {
    case "up":
      return true;
    case "down":
      return false;
    case "ceiling":
      return !isNegative;
    case "floor":
      return isNegative;
    case "half_up":
      return half >= 0;
    case "half_down":
      return half > 0;
    case "half_even":
      return half > 0 || (half === 0 && isOdd);
  }
}

/** Writes the number without an exponent and without trailing zeros; `undefined` when it has no end in decimals. */
export function formatDecimal({ numerator, denominator }: Rational): string | undefined {
  const places = decimalPlaces(denominator);
  if (places === undefined) return undefined;
  const scaled = (numerator * 10n ** BigInt(places)) / denominator;
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(places + 1, "0");
  const sign = scaled < 0n ? "-" : "";
  return places === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Places that a number with this denominator needs: only factors 2 and 5 have an end in decimals. */
function decimalPlaces(denominator: bigint): number | undefined {
  let rest = denominator;
  let twos = 0;
  let fives = 0;
  for (; rest % 2n === 0n; twos += 1) rest /= 2n;
  for (; rest % 5n === 0n; fives += 1) rest /= 5n;
  return rest === 1n ? Math.max(twos, fives) : undefined;
}

function greatestCommonDivisor(one: bigint, other: bigint): bigint {
  let [greater, smaller] = [one, other];
  while (smaller !== 0n) {
    [greater, smaller] = [smaller, greater % smaller];
  }
  return greater;
}
