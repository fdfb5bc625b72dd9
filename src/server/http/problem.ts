import type { Context } from "hono";
import { BelayError, type BelayErrorCode } from "../../errors.ts";
import { type ProblemStatus, statusOf } from "./status-of.ts";

/** Members beside those of RFC 9457, such as the stored outcome of a question that has its answer. */
export type ProblemMembers = Readonly<Record<string, unknown>>;

/** A `BelayError` with what an HTTP answer says besides its text. */
export class HttpProblem extends BelayError {
  override readonly name = "HttpProblem";
  readonly members: ProblemMembers;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    code: BelayErrorCode,
    message: string,
    more: { readonly members?: ProblemMembers; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message);
    this.members = more.members ?? {};
    this.headers = more.headers ?? {};
  }
}

const PROBLEM_TYPE = "application/problem+json";

const TITLES: Readonly<Record<ProblemStatus, string>> = {
  400: "The request is not valid",
  401: "Nobody is signed in",
  403: "Not permitted",
  404: "Not found",
  405: "The address does not take this method",
  408: "The request took too long",
  409: "It conflicts with what is stored",
  410: "It has expired",
  412: "It is not what it was",
  413: "The request is too large",
  421: "This server does not answer for that host",
  429: "Too many requests",
  500: "Internal error",
  503: "Not available now",
};

/** An error as a client is told of it. */
export interface ToldProblem {
  readonly status: ProblemStatus;
  readonly code: BelayErrorCode;
  readonly detail: string;
  readonly members: ProblemMembers;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What a client is told of an error. One that no client should know of becomes 500 `BELAY_INTERNAL` with no text of its
 * own.
 */
export function toldProblem(error: unknown): ToldProblem {
  const status = error instanceof BelayError ? statusOf(error.code) : undefined;
  if (!(error instanceof BelayError) || status === undefined) {
    const detail = "The server made a mistake; what was recorded is kept.";
    return { status: 500, code: "BELAY_INTERNAL", detail, members: {}, headers: {} };
  }
  const { code } = error;
  if (status === 503) {
    // What lies under a storage problem is the operator's: paths and names of programs.
    const detail = "The store or the server cannot answer now. Try again in a moment.";
    const seconds = Math.ceil((error.retryAfterMs ?? 2000) / 1000);
    return { status, code, detail, members: {}, headers: { "retry-after": String(seconds) } };
  }
  const { members, headers } = error instanceof HttpProblem ? error : { members: {}, headers: {} };
  return { status, code, detail: error.message, members, headers };
}

/** Whether a client asks for a page: browsers name HTML when they navigate, and programs do not. */
export function wantsPage(context: Context): boolean {
  return /\btext\/html\b/i.test(context.req.header("accept") ?? "");
}

/**
 * The answer to an error (RFC 9457): `type` is `urn:belay:problem:` and the code without its prefix in small letters.
 */
export function problemResponse(context: Context, { status, code, detail, members, headers }: ToldProblem): Response {
  const type = `urn:belay:problem:${code.slice("BELAY_".length).toLowerCase()}`;
  const body = { type, title: TITLES[status], status, code, detail, ...members };
  return context.body(JSON.stringify(body), status, { ...headers, "content-type": PROBLEM_TYPE });
}
