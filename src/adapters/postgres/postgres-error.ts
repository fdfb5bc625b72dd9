import { BelayError } from "../../errors.ts";
import { OTHER_FAILURE, type StoreFailure, storeFailure } from "../../journal/index.ts";

/** The connection broke between sending COMMIT and its answer: whether the commit was kept is not known yet. */
export class UnansweredCommit extends Error {
  constructor(cause: unknown) {
    super("the connection was lost before COMMIT was answered", { cause });
  }
}

/** A run's line and its journal do not say the same, so the journal must be asked. */
export class TornRun extends Error {}

/**
 * What may be done after a failure: `contention` is over when the others are done, `lost` when the server answers again,
 * and `final` stays.
 */
export type FailureKind = "contention" | "lost" | "final";

// Serialization failure, deadlock, and a row that somebody else has made first.
const CONTENTION = ["40001", "40P01", "23505"];

// A session that the server ended, by hand or because the process did not answer for long.
const ENDED = ["57P01", "57P02", "57P03", "57P05", "25P03"];

export function failureKind(error: unknown): FailureKind {
  if (error instanceof UnansweredCommit) {
    return "lost";
  }
  if (error instanceof TornRun) {
    return "contention";
  }
  if (error instanceof BelayError) {
    return "final";
  }
  const code = sqlState(error);
  if (code === undefined) {
    return isConnectionError(error) ? "lost" : "final";
  }
  if (CONTENTION.includes(code)) {
    return "contention";
  }
  return ENDED.includes(code) || code.startsWith("08") || code === "53300" ? "lost" : "final";
}

const CORRUPT: StoreFailure = {
  code: "BELAY_STORE_CORRUPT",
  problem: "is damaged",
  remedy: "Restore a backup, and look for a failing disk",
};

const REFUSED: StoreFailure = {
  code: "BELAY_STORE_UNAVAILABLE",
  problem: "does not let this user in",
  remedy: "Check user, password and database of its address, and pg_hba.conf of the server",
};

const READ_ONLY: StoreFailure = {
  code: "BELAY_STORE_READ_ONLY",
  problem: "cannot be written by this user",
  remedy: "Connect to the primary server, as a user with the right to create and change tables in this schema",
};

const UNAVAILABLE: StoreFailure = {
  code: "BELAY_STORE_UNAVAILABLE",
  problem: "does not answer",
  remedy: "See whether the server runs and can be reached; nothing was half written",
};

const UNKNOWN: StoreFailure = {
  code: "BELAY_STORE_COMMIT_UNKNOWN",
  problem: "stopped answering while a commit was under way, so whether it was kept is not known",
  remedy: "Read the run again when the server answers: its events say so",
};

/** SQLSTATE codes (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const FAILURES: Readonly<Record<string, StoreFailure>> = {
  "28000": REFUSED,
  "28P01": REFUSED,
  "3D000": REFUSED,
  "42501": READ_ONLY,
  "25006": READ_ONLY,
  "53100": {
    code: "BELAY_STORE_FULL",
    problem: "cannot grow: the disk of the server is full",
    remedy: "Free some space and try again; nothing was half written",
  },
  "55P03": {
    code: "BELAY_STORE_LOCKED",
    problem: "has a row that another transaction holds for too long",
    remedy: "Look for a stuck session (pg_stat_activity) and try again; nothing was half written",
  },
  XX001: CORRUPT,
  XX002: CORRUPT,
};

/** Turns what `pg` throws into a typed error; everything else stays as it is. The server's own text is the cause. */
export function translatePostgresError(label: string, error: unknown): unknown {
  const failure = failureOf(error);
  return failure === undefined ? error : storeFailure(`in ${label}`, failure, error);
}

/** The error of a commit of which it could not be found out whether it was kept. */
export function commitUnknown(label: string, cause: unknown): BelayError {
  return storeFailure(`in ${label}`, UNKNOWN, cause);
}

function failureOf(error: unknown): StoreFailure | undefined {
  if (error instanceof UnansweredCommit) {
    return UNKNOWN;
  }
  if (error instanceof BelayError) {
    return undefined;
  }
  const code = sqlState(error);
  if (failureKind(error) === "lost") {
    return UNAVAILABLE;
  }
  return code === undefined ? undefined : (FAILURES[code] ?? OTHER_FAILURE);
}

/** Five letters and digits for what the server said; undefined for everything else. */
export function sqlState(error: unknown): string | undefined {
  // Errors of the network have a `code` too, but no `severity`.
  const isServerError = error instanceof Error && "severity" in error && "code" in error;
  return isServerError && typeof error.code === "string" ? error.code : undefined;
}

/** Whether the session goes on after the error, and the statement is known to have done nothing. */
export function isStatementError(error: unknown): boolean {
  return error instanceof Error && "severity" in error && error.severity === "ERROR";
}

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  // `pg` has no codes of its own: it throws what the socket threw, or plain errors with these texts.
  return (
    ("syscall" in error && typeof error.syscall === "string") ||
    ("errors" in error && Array.isArray(error.errors) && error.errors.some(isConnectionError)) ||
    /connection|timeout|not queryable|client was closed/i.test(error.message)
  );
}
