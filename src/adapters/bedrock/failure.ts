import { printable } from "../../core/index.ts";
import { BelayError, type BelayErrorCode } from "../../errors.ts";

/** What may be told of a failed attempt: never the service's text, which can quote the prompt or a credential. */
export interface Failure {
  /** Name of the service's error, or of our own for what has none. */
  readonly name: string;
  readonly status?: number;
  /** Code of the system or of TLS, for a connection that failed. */
  readonly networkCode?: string;
  readonly requestId?: string;
  readonly isRetryable: boolean;
  /** How long the service asks to wait. */
  readonly retryAfterMs?: number;
}

const RETRYABLE_NAMES: ReadonlySet<string> = new Set([
  "ThrottlingException",
  "TooManyRequestsException",
  "ModelNotReadyException",
  "ModelTimeoutException",
  "ServiceUnavailableException",
  "InternalServerException",
]);

const NETWORK_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ERR_HTTP2_STREAM_CANCEL",
  "ERR_HTTP2_STREAM_ERROR",
  "ERR_HTTP2_SESSION_ERROR",
  "ERR_HTTP2_GOAWAY_SESSION",
]);

const AUTH_NAMES: ReadonlySet<string> = new Set([
  "AccessDeniedException",
  "CredentialsProviderError",
  "ExpiredTokenException",
  "UnrecognizedClientException",
]);

const THROTTLED_NAMES: ReadonlySet<string> = new Set([
  "ServiceQuotaExceededException",
  "ThrottlingException",
  "TooManyRequestsException",
]);

const REMEDIES: Readonly<Record<string, string>> = {
  AccessDeniedException: "Allow bedrock:InvokeModel for these credentials and get access to the model.",
  CredentialsProviderError: "Set credentials that the AWS SDK finds, such as AWS_PROFILE.",
  ExpiredTokenException: "Renew the credentials.",
  ModelNotReadyException: "Wait until the model is ready.",
  NetworkError: "Check the connection, its certificates and the region.",
  ResourceNotFoundException: "Check the model id and that the region has the model.",
  ThrottlingException: "Wait, or ask for a larger quota.",
  UnreadableAnswer: "Look at what stands between this program and the service.",
  UnrecognizedClientException: "Check the credentials.",
  ValidationException: "Check that the model takes tools, system prompts and cache points, and the size of the prompt.",
};

/** Reads an error of the SDK, which may be anything that was thrown. */
export function readFailure(error: unknown, now: number): Failure {
  const { name, code, cause, $metadata, $response } = record(error);
  const { httpStatusCode, requestId } = record($metadata);
  const status = typeof httpStatusCode === "number" ? httpStatusCode : undefined;
  // HTTP/2 reports a stream that was cancelled, and why in its cause.
  const networkCode = status === undefined ? readCode(record(cause)["code"] ?? code) : undefined;
  const safeName = nameOf(name, status, networkCode);
  const retryAfterMs = readRetryAfter(record(record($response)["headers"])["retry-after"], now);
  return {
    name: safeName,
    isRetryable: isRetryable(safeName, status, networkCode),
    ...(status !== undefined && { status }),
    ...(networkCode !== undefined && { networkCode }),
    ...(typeof requestId === "string" && /^[\w-]{1,64}$/.test(requestId) && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The error for a call that is given up. It has no cause, since that would carry the service's text along. */
export function failureError(modelId: string, failure: Failure, attempts: number): BelayError {
  const { name, status, networkCode, requestId, retryAfterMs } = failure;
  const facts = [
    ...(networkCode === undefined ? [] : [networkCode]),
    ...(status === undefined ? [] : [`HTTP ${status}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
    ...(retryAfterMs === undefined ? [] : [`it asks to wait ${Math.ceil(retryAfterMs / 1000)} s`]),
    `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`,
  ];
  return new BelayError(
    codeOf(failure),
    `Bedrock gave no reply of the model "${printable(modelId)}": ${name} (${facts.join(", ")}). ` +
      (REMEDIES[name] ?? "Try again later; the request id helps AWS to find the call."),
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function codeOf({ name, status = 0, isRetryable: isPassing }: Failure): BelayErrorCode {
  if (name === "UnreadableAnswer") {
    return "BELAY_MODEL_BAD_REPLY";
  }
  if (AUTH_NAMES.has(name) || status === 401 || status === 403) {
    return "BELAY_MODEL_AUTH";
  }
  if (THROTTLED_NAMES.has(name)) {
    return "BELAY_MODEL_THROTTLED";
  }
  return isPassing || status === 0 ? "BELAY_MODEL_UNAVAILABLE" : "BELAY_MODEL_REFUSED";
}

function isRetryable(name: string, status: number | undefined, networkCode: string | undefined): boolean {
  if (networkCode !== undefined) {
    return NETWORK_CODES.has(networkCode);
  }
  return RETRYABLE_NAMES.has(name) || status === 429 || (status !== undefined && status >= 500);
}

function nameOf(name: unknown, status: number | undefined, networkCode: string | undefined): string {
  if (networkCode !== undefined) {
    return "NetworkError";
  }
  // The service said that it succeeded, so it is the reading that failed.
  if (status !== undefined && status < 300) {
    return "UnreadableAnswer";
  }
  return typeof name === "string" && /^[A-Za-z]{1,60}$/.test(name) ? name : "UnknownError";
}

function readCode(code: unknown): string | undefined {
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : undefined;
}

/** Seconds or a date, by RFC 9110 section 10.2.3; nothing for anything else. */
function readRetryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== "string") {
    return undefined;
  }
  if (/^[0-9]{1,9}$/.test(header)) {
    return Number(header) * 1000;
  }
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
