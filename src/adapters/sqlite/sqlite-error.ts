import { BelayError } from "../../errors.ts";
import { OTHER_FAILURE, type StoreFailure, storeFailure } from "../../journal/index.ts";

const LOCKED: StoreFailure = {
  code: "BELAY_STORE_LOCKED",
  problem: "is locked by another program",
  remedy: "Close the program that holds it (a database browser, a backup, a stuck worker) and try again",
};

const CORRUPT: StoreFailure = {
  code: "BELAY_STORE_CORRUPT",
  problem: "is damaged or is not a SQLite database",
  remedy: "Move it away together with its -wal and -shm files and restore a backup; do not edit it",
};

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<number, StoreFailure>> = {
  5: LOCKED,
  6: LOCKED,
  11: CORRUPT,
  26: CORRUPT,
  8: {
    code: "BELAY_STORE_READ_ONLY",
    problem: "cannot be written",
    remedy: "Give this user the right to write the file and its folder",
  },
  10: {
    code: "BELAY_STORE_FAILED",
    problem: "could not be read or written by the operating system",
    remedy: "Check the disk; whether the last commit was kept is known after the store is opened again",
  },
  13: {
    code: "BELAY_STORE_FULL",
    problem: "cannot grow: the disk is full",
    remedy: "Free some space and try again; nothing was half written",
  },
  14: {
    code: "BELAY_STORE_PATH",
    problem: "cannot be opened",
    remedy: "Check that its folder exists and that this user may read and write there",
  },
};

/** Turns what `node:sqlite` throws into a typed error; everything else stays as it is. SQLite's own text is the cause. */
export function translateSqliteError(path: string, error: unknown): unknown {
  if (isNumberTooLarge(error)) {
    const problem = "holds a number that is too large to be ours: somebody edited it";
    return new BelayError("BELAY_STORE_CORRUPT", `The store ${path} ${problem}. See belay doctor.`, { cause: error });
  }
  const result = sqliteResult(error);
  return result === undefined ? error : storeFailure(path, FAILURES[result] ?? OTHER_FAILURE, error);
}

/** Whether `node:sqlite` met a stored integer beyond 2^53, which no store of ours writes. */
export function isNumberTooLarge(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";
}

/** Whether SQLite said that another connection is in the way. */
export function isBusy(error: unknown): boolean {
  const result = sqliteResult(error);
  return result === 5 || result === 6;
}

function sqliteResult(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_SQLITE_ERROR") {
    return undefined;
  }
  // The low byte of an extended result code is the primary one.
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : -1;
}
