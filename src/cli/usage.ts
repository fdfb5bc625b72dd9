import { BelayError } from "../errors.ts";

export function usageError(message: string): BelayError {
  return new BelayError("BELAY_USAGE", message);
}

/** Reads a whole number from the text of an argument; throws `BELAY_USAGE` outside the bounds. */
export function wholeNumber(name: string, text: string, least: number, most: number): number {
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw usageError(`${name} is ${JSON.stringify(text)}. Give a whole number from ${least} to ${most}.`);
  }
  return value;
}

/** Checks that an option's text is one of the values that it may have. */
export function choice<Value extends string>(name: string, text: string, values: readonly Value[]): Value {
  const found = values.find((value) => value === text);
  if (found === undefined) {
    throw usageError(`--${name} is ${JSON.stringify(text)}. Give one of ${values.join(", ")}.`);
  }
  return found;
}
