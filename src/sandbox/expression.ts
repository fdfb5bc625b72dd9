import { printable } from "../core/index.ts";
import {
  add,
  divide,
  multiply,
  negate,
  parseDecimal,
  type Rational,
  ROUNDINGS,
  type Rounding,
  round,
} from "./rational.ts";

export type CalculationFailureCode =
  /** `100 + 10%` is 110 for some readers and 100.1 for others. */
  "ambiguous_percent" | "division_by_zero" | "not_exact" | "rounding_missing" | "syntax_error" | "too_large";

export type ReadExpression =
  | { readonly ok: true; readonly value: Rational }
  | { readonly ok: false; readonly code: CalculationFailureCode; readonly message: string };

const CHARACTERS_MAX = 2000;
const DEPTH_MAX = 50;
const DIGITS_MAX = 60;
const PLACES_MAX = 60;
/** Bound of each numerator and denominator, so that no chain of factors grows without end. */
const MAGNITUDE_MAX = 10n ** 400n;
const HUNDREDTH: Rational = { numerator: 1n, denominator: 100n };
const ONE: Rational = { numerator: 1n, denominator: 1n };
const SPACE = " \t\n\r";

class Refusal extends Error {
  readonly code: CalculationFailureCode;
  constructor(code: CalculationFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

interface Reader {
  readonly text: string;
  readonly rounding: Rounding | undefined;
  at: number;
  depth: number;
}

interface Operand {
  readonly value: Rational;
  /** Written as a bare percentage, such as `10%`. */
  readonly isPercent: boolean;
}

/** Reads and calculates in one pass: a recursive descent whose depth is bounded. */
export function readExpression(text: string, rounding: Rounding | undefined): ReadExpression {
  if (text.length > CHARACTERS_MAX) {
    const message = `The expression has ${text.length} characters; ${CHARACTERS_MAX} are allowed.`;
    return { ok: false, code: "too_large", message };
  }
  const reader: Reader = { text, rounding, at: 0, depth: 0 };
  try {
    const { value } = readSum(reader);
    if (peek(reader) !== undefined) throw unexpected(reader, "an operator or the end");
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, code: error.code, message: error.message };
    throw error;
  }
}

function readSum(reader: Reader): Operand {
  let left = readProduct(reader);
  for (let sign = take(reader, "+-"); sign !== undefined; sign = take(reader, "+-")) {
    const right = readProduct(reader);
    checkPercent(left, right);
    left = { value: bounded(add(left.value, sign === "-" ? negate(right.value) : right.value)), isPercent: false };
  }
  return left;
}

/** Of 1 and of another percentage a percentage can be added: all readers agree there. */
function checkPercent(left: Operand, right: Operand): void {
  const isOne = left.value.numerator === ONE.numerator && left.value.denominator === ONE.denominator;
  if (right.isPercent && !left.isPercent && !isOne) {
    throw new Refusal(
      "ambiguous_percent",
      "Adding a percentage to a number can be read in two ways. Write 100 * (1 + 10%), or 100 + 10 / 100.",
    );
  }
}

function readProduct(reader: Reader): Operand {
  let left = readSigned(reader);
  for (let sign = take(reader, "*/"); sign !== undefined; sign = take(reader, "*/")) {
    const right = readSigned(reader).value;
    if (sign === "/" && right.numerator === 0n) {
      throw new Refusal("division_by_zero", "The expression divides by zero.");
    }
    left = { value: bounded((sign === "*" ? multiply : divide)(left.value, right)), isPercent: false };
  }
  return left;
}

function readSigned(reader: Reader): Operand {
  const sign = take(reader, "+-");
  if (sign === undefined) return readPercent(reader);
  const { value, isPercent } = deeper(reader, readSigned);
  return { value: sign === "-" ? negate(value) : value, isPercent };
}

function readPercent(reader: Reader): Operand {
  const value = readPrimary(reader);
  if (take(reader, "%") === undefined) return { value, isPercent: false };
  if (peek(reader) === "%") throw unexpected(reader, "one percent sign only");
  return { value: bounded(multiply(value, HUNDREDTH)), isPercent: true };
}

function readPrimary(reader: Reader): Rational {
  if (take(reader, "(") !== undefined) {
    const { value } = deeper(reader, readSum);
    expect(reader, ")");
    return value;
  }
  const word = takePattern(reader, /[A-Za-z_]+/y);
  if (word === "round") return readRound(reader);
  if (word !== undefined) {
    throw new Refusal("syntax_error", `There is no "${printable(word, 40)}". Only the function round is known.`);
  }
  return parseDecimal(readNumber(reader));
}

function readNumber(reader: Reader): string {
  const start = reader.at;
  const token = takePattern(reader, /[0-9][0-9A-Za-z_.]*/y);
  if (token === undefined) throw unexpected(reader, "a number, round or a parenthesis");
  if (token.length > DIGITS_MAX) throw new Refusal("too_large", `A number has more than ${DIGITS_MAX} digits.`);
  if (!/^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/.test(token)) {
    throw new Refusal(
      "syntax_error",
      `"${printable(token, 40)}" at character ${start + 1} is no plain decimal number. Write it like 1250.50: no ` +
        "exponent, no grouping, no leading zeros.",
    );
  }
  return token;
}

function readRound(reader: Reader): Rational {
  expect(reader, "(");
  const { value } = deeper(reader, readSum);
  expect(reader, ",");
  const places = readNumber(reader);
  const rounding = take(reader, ",") === undefined ? reader.rounding : readRounding(reader);
  expect(reader, ")");
  if (!/^[0-9]{1,2}$/.test(places) || Number(places) > PLACES_MAX) {
    throw new Refusal("syntax_error", `round takes 0 to ${PLACES_MAX} places, not ${printable(places, 20)}.`);
  }
  if (rounding === undefined) {
    throw new Refusal("rounding_missing", `Say how to round: round(x, ${places}, ${ROUNDINGS.join(" | ")}).`);
  }
  return bounded(round(value, Number(places), rounding));
}

function readRounding(reader: Reader): Rounding {
  const word = takePattern(reader, /[A-Za-z_]+/y);
  const rounding = ROUNDINGS.find((name) => name === word);
  if (rounding === undefined) throw unexpected(reader, `one of ${ROUNDINGS.join(", ")}`);
  return rounding;
}

function deeper<Value>(reader: Reader, read: (reader: Reader) => Value): Value {
  reader.depth += 1;
  if (reader.depth > DEPTH_MAX) {
    throw new Refusal("too_large", `More than ${DEPTH_MAX} parentheses or signs are inside each other.`);
  }
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

function bounded(value: Rational): Rational {
  const { numerator, denominator } = value;
  if (numerator > MAGNITUDE_MAX || -numerator > MAGNITUDE_MAX || denominator > MAGNITUDE_MAX) {
    throw new Refusal("too_large", "A number in the calculation has more than 400 digits.");
  }
  return value;
}

function peek(reader: Reader): string | undefined {
  while (reader.at < reader.text.length && SPACE.includes(reader.text.charAt(reader.at))) reader.at += 1;
  return reader.text[reader.at];
}

function take(reader: Reader, characters: string): string | undefined {
  const found = peek(reader);
  if (found === undefined || !characters.includes(found)) return undefined;
  reader.at += 1;
  return found;
}

function takePattern(reader: Reader, pattern: RegExp): string | undefined {
  peek(reader);
  pattern.lastIndex = reader.at;
  const token = pattern.exec(reader.text)?.[0];
  reader.at += token?.length ?? 0;
  return token;
}

function expect(reader: Reader, character: string): void {
  if (take(reader, character) === undefined) throw unexpected(reader, `"${character}"`);
}

function unexpected(reader: Reader, wanted: string): Refusal {
  const code = reader.text.codePointAt(reader.at);
  const found = code === undefined ? "the expression ends" : `found "${printable(String.fromCodePoint(code))}"`;
  return new Refusal("syntax_error", `At character ${reader.at + 1} ${found}; expected ${wanted}.`);
}
