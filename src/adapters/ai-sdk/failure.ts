import { printable } from "../../core/index.ts";
import { BelayError, type BelayErrorCode } from "../../errors.ts";

type FailureCode = Extract<
  BelayErrorCode,
  | "BELAY_MODEL_AUTH"
  | "BELAY_MODEL_BAD_REPLY"
  | "BELAY_MODEL_REFUSED"
  | "BELAY_MODEL_THROTTLED"
  | "BELAY_MODEL_UNAVAILABLE"
>;

/** What may be told of a failed attempt: never the provider's text, which can quote the prompt or a credential. */
export interface Failure {
  readonly code: FailureCode;
  readonly isRetryable: boolean;
  readonly status?: number;
  readonly requestId?: string;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
}

/** A reply that cannot be used as a whole; thrown inside this folder and never leaves it. */
export class BadReply extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super("the reply cannot be used");
    this.failure = failure;
  }
}

/** A stream that ended before the provider said that the reply was whole. */
export function replyCut(): BadReply {
  return new BadReply({ code: "BELAY_MODEL_UNAVAILABLE", isRetryable: true });
}

export function badReply(): BadReply {
  return new BadReply({ code: "BELAY_MODEL_BAD_REPLY", isRetryable: false });
}

/** Names of the errors of the AI SDK; its classes are not compared, because a program may hold two copies of them. */
const CODES: ReadonlyMap<unknown, FailureCode> = new Map([
  ["AI_LoadAPIKeyError", "BELAY_MODEL_AUTH"],
  ["AI_LoadSettingError", "BELAY_MODEL_AUTH"],
  ["AI_InvalidPromptError", "BELAY_MODEL_REFUSED"],
  ["AI_InvalidArgumentError", "BELAY_MODEL_REFUSED"],
  ["AI_NoSuchModelError", "BELAY_MODEL_REFUSED"],
  ["AI_UnsupportedFunctionalityError", "BELAY_MODEL_REFUSED"],
  ["AI_EmptyResponseBodyError", "BELAY_MODEL_BAD_REPLY"],
  ["AI_InvalidResponseDataError", "BELAY_MODEL_BAD_REPLY"],
  ["AI_JSONParseError", "BELAY_MODEL_BAD_REPLY"],
  ["AI_NoContentGeneratedError", "BELAY_MODEL_BAD_REPLY"],
  ["AI_TypeValidationError", "BELAY_MODEL_BAD_REPLY"],
]);

const NETWORK_CODE = /^(?:E[A-Z_]{3,20}|UND_ERR_[A-Z_]{1,40})$/;

const REMEDIES: Readonly<Record<FailureCode, string>> = {
  BELAY_MODEL_AUTH: "Check the key and what it may do.",
  BELAY_MODEL_BAD_REPLY: "Look at what stands between this program and the provider.",
  BELAY_MODEL_REFUSED: "Check the model's name, that it takes tools and these settings, and the size of the prompt.",
  BELAY_MODEL_THROTTLED: "Wait, or ask for a larger quota.",
  BELAY_MODEL_UNAVAILABLE: "Check the connection, or try again later.",
};

const SAYINGS: Readonly<Record<FailureCode, string>> = {
  BELAY_MODEL_AUTH: "refused the credentials",
  BELAY_MODEL_BAD_REPLY: "gave a reply that cannot be used",
  BELAY_MODEL_REFUSED: "refused the request",
  BELAY_MODEL_THROTTLED: "takes no more requests for now",
  BELAY_MODEL_UNAVAILABLE: "gave no whole reply",
};

/** Reads what a model threw or streamed as an error, which may be anything. */
export function readFailure(error: unknown, now: number): Failure {
  if (error instanceof BadReply) {
    return error.failure;
  }
  const { name, statusCode, responseHeaders, isRetryable } = record(error);
  const status = typeof statusCode === "number" && statusCode >= 100 && statusCode <= 599 ? statusCode : undefined;
  const headers = record(responseHeaders);
  const requestId = headers["x-request-id"] ?? headers["request-id"];
  const retryAfterMs = readRetryAfter(headers, now);
  const kind =
    status === undefined || status < 400
      ? withoutRefusal(error, { name, status, isRetryable: isRetryable === true })
      : ofStatus(status);
  return {
    ...kind,
    ...(status !== undefined && { status }),
    ...(typeof requestId === "string" && /^[\w-]{1,80}$/.test(requestId) && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The error for a call that is given up. It has no cause, since that would carry the prompt and the headers along. */
export function failureError(modelId: string, failure: Failure, attempts: number): BelayError {
  const { code, status, requestId, retryAfterMs } = failure;
  const facts = [
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
    ...(retryAfterMs === undefined ? [] : [`it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`]),
    `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`,
  ];
  const message = `The provider of the model "${printable(modelId)}" ${SAYINGS[code]} (${facts.join(", ")}).`;
  return new BelayError(code, `${message} ${REMEDIES[code]}`, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function ofStatus(status: number): Pick<Failure, "code" | "isRetryable"> {
  if (status === 401 || status === 403) return { code: "BELAY_MODEL_AUTH", isRetryable: false };
  if (status === 429) return { code: "BELAY_MODEL_THROTTLED", isRetryable: true };
  // A request that took too long to arrive, and one that met another at a lock.
  if (status === 408 || status === 409 || status >= 500) return { code: "BELAY_MODEL_UNAVAILABLE", isRetryable: true };
  return { code: "BELAY_MODEL_REFUSED", isRetryable: false };
}

/** What failed although the provider refused nothing: the connection, or the reading of the answer. */
function withoutRefusal(
  error: unknown,
  seen: { readonly name: unknown; readonly status: number | undefined; readonly isRetryable: boolean },
): Pick<Failure, "code" | "isRetryable"> {
  const known = CODES.get(seen.name);
  if (known !== undefined) return { code: known, isRetryable: false };
  if (isNetworkFailure(error)) return { code: "BELAY_MODEL_UNAVAILABLE", isRetryable: true };
  return seen.status === undefined
    ? { code: "BELAY_MODEL_UNAVAILABLE", isRetryable: seen.isRetryable }
    : { code: "BELAY_MODEL_BAD_REPLY", isRetryable: false };
}

/** A broken connection is told three causes deep: by the SDK, by `fetch` and by the socket. */
function isNetworkFailure(error: unknown): boolean {
  let link = error;
  for (let depth = 0; depth < 5; depth += 1) {
    const { code, cause } = record(link);
    if (typeof code === "string" && NETWORK_CODE.test(code)) return true;
    link = cause;
  }
  return false;
}

/** Milliseconds of `retry-after-ms`, or seconds or a date by RFC 9110 section 10.2.3; nothing for anything else. */
function readRetryAfter(headers: Readonly<Record<string, unknown>>, now: number): number | undefined {
  const { "retry-after-ms": milliseconds, "retry-after": header } = headers;
  if (typeof milliseconds === "string" && /^[0-9]{1,9}(?:\.[0-9]{1,9})?$/.test(milliseconds)) {
    return Math.ceil(Number(milliseconds));
  }
  if (typeof header !== "string") return undefined;
  if (/^[0-9]{1,9}(?:\.[0-9]{1,9})?$/.test(header)) return Math.ceil(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
