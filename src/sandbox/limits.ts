import { BelayError } from "../errors.ts";

/** What one evaluation may use at most; reaching any of them ends it with a typed failure. */
export interface SandboxLimits {
  /** Working time of one evaluation, in milliseconds. Default 250. */
  readonly timeoutMs: number;
  /** Memory of a program's values, in bytes; raw buffers may take 16 MiB more, which the thread has anyway. Default 16 MiB. */
  readonly memoryBytesMax: number;
  /** Stack of the interpreter, in bytes. Default 256 KiB. */
  readonly stackBytesMax: number;
  /** Length of the result as JSON text. Default 100,000. */
  readonly outputCharactersMax: number;
  /** Length of the program, and of the input as JSON text. Default 100,000 each. */
  readonly inputCharactersMax: number;
}

interface Bound {
  readonly default: number;
  readonly least: number;
  readonly most: number;
}

const MEBIBYTE = 2 ** 20;

const BOUNDS: Readonly<Record<keyof SandboxLimits, Bound>> = {
  timeoutMs: { default: 250, least: 1, most: 60_000 },
  // Less than this and the interpreter cannot hold its own built-ins.
  memoryBytesMax: { default: 16 * MEBIBYTE, least: MEBIBYTE, most: 512 * MEBIBYTE },
  // More than this and the thread's own stack ends before the interpreter's.
  stackBytesMax: { default: MEBIBYTE / 4, least: MEBIBYTE / 16, most: MEBIBYTE / 2 },
  outputCharactersMax: { default: 100_000, least: 1, most: 10_000_000 },
  inputCharactersMax: { default: 100_000, least: 1, most: 10_000_000 },
};

/** Fills in the defaults; throws `BELAY_SANDBOX_INVALID` for a limit that is unknown or out of bounds. */
export function readLimits(given: Partial<SandboxLimits>): SandboxLimits {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(BOUNDS, name));
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_SANDBOX_INVALID",
      `A sandbox has no limit "${unknown}". Use ${Object.keys(BOUNDS).join(", ")}.`,
    );
  }
  return {
    timeoutMs: readLimit("timeoutMs", given.timeoutMs),
    memoryBytesMax: readLimit("memoryBytesMax", given.memoryBytesMax),
    stackBytesMax: readLimit("stackBytesMax", given.stackBytesMax),
    outputCharactersMax: readLimit("outputCharactersMax", given.outputCharactersMax),
    inputCharactersMax: readLimit("inputCharactersMax", given.inputCharactersMax),
  };
}

function readLimit(name: keyof SandboxLimits, given: number | undefined): number {
  const { default: standard, least, most } = BOUNDS[name];
  const value = given ?? standard;
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    throw new BelayError(
      "BELAY_SANDBOX_INVALID",
      `The sandbox limit ${name} is ${String(value)}. Use a whole number from ${least} to ${most}.`,
    );
  }
  return value;
}
