import { type CalculationFailureCode, readExpression } from "./expression.ts";
import { formatDecimal, type Rounding } from "./rational.ts";

export type Calculation =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly code: CalculationFailureCode; readonly message: string };

export interface CalculateOptions {
  /** How `round(x, places)` rounds where the expression does not say. No default: money is never rounded by accident. */
  readonly rounding?: Rounding;
}

/**
 * Calculates an expression over exact decimals; no step is ever done in binary fractions.
 *
 * Knows `+ - * /`, parentheses, `%` after a number (a hundredth of it), `round(x, places)` and
 * `round(x, places, half_even)`. Divisions are exact inside the expression, so `10 / 3 * 3` is 10; a result that has no
 * end in decimals is refused until it is rounded. Bounded in length, depth and digits. Never throws.
 */
export function calculate(expression: string, options: CalculateOptions = {}): Calculation {
  const read = readExpression(expression, options.rounding);
  if (!read.ok) return read;
  const value = formatDecimal(read.value);
  return value === undefined
    ? {
        ok: false,
        code: "not_exact",
        message: "The result has no end in decimals. Say how to round it, such as round(10 / 3, 2, half_even).",
      }
    : { ok: true, value };
}
