import type { RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { ModelRetryOptions } from "./harness.ts";
import type { Kit } from "./kit.ts";
import type { Session } from "./session.ts";

/** What the engine does by default about a model that is throttled or not there. */
const MODEL_RETRY: Required<ModelRetryOptions> = {
  attemptsMax: 4,
  delayMs: 1000,
  delayMaxMs: 10 * 60_000,
};

/**
 * First delay after an adapter that has tried again by itself, for up to 20 seconds each time: the engine begins where
 * it stopped, so that the two do not multiply within the same minute.
 */
const AFTER_ADAPTER_DELAY_MS = 30_000;

interface Failure {
  /** An adapter's own stable code; whatever else was thrown has no word of its own in the record. */
  readonly code: string;
  readonly isRetryable: boolean;
  /** The provider refused the request before it did anything. */
  readonly isFree: boolean;
  readonly firstDelayMs?: number;
  readonly retryAfterMs?: number;
}

/** What to record of a model call that threw: another attempt at a later time, or the end of the run. */
export function modelFailed(
  context: EngineContext,
  session: Session,
  step: number,
  error: unknown,
): readonly RunEvent[] {
  const failure = readFailure(context.kit, error);
  const retryAt = failure.isRetryable ? nextAttemptAt(context, session, failure) : undefined;
  const detail = retryAt === undefined ? "the model call failed" : "the model call failed and is made again";
  context.alarm({ code: "MODEL_FAILED", run: session.run, detail, cause: error });
  return [
    {
      type: "model.failed",
      step,
      code: failure.code,
      detail,
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(failure.isFree ? { notCharged: true } : {}),
    },
    ...(failure.isFree ? context.kit.settleBudgets(session, 0) : []),
  ];
}

/** What to record of a model call that gave no reply within `timeoutMs`; the clock shows at least `notBefore`. */
export function modelTimedOut(
  { clock, kit }: EngineContext,
  { state }: Session,
  step: number,
  timeoutMs: number,
  notBefore: number,
): readonly RunEvent[] {
  const hit = kit.core.wallClockLimit(state, Math.max(clock.now(), notBefore));
  return hit === undefined
    ? [{ type: "model.failed", step, code: "timeout", detail: `no reply within ${timeoutMs} ms` }]
    : [{ type: "limit.reached", ...hit }];
}

/** The time of the next attempt, or `undefined` when there shall be none. The random part is recorded with it. */
function nextAttemptAt(context: EngineContext, session: Session, failure: Failure): number | undefined {
  const { attemptsMax, delayMs, delayMaxMs } = { ...MODEL_RETRY, ...context.modelRetry };
  const { state } = session;
  const { retryAfterMs = 0 } = failure;
  if (state.retriesInRow + 1 >= attemptsMax || retryAfterMs > delayMaxMs) return undefined;
  const bound = Math.min(delayMaxMs, Math.max(delayMs, failure.firstDelayMs ?? 0) * 2 ** state.retriesInRow);
  // Half of it is drawn, so that runs which failed together do not come back together.
  const waitMs = Math.ceil(Math.max(retryAfterMs, bound / 2 + (bound / 2) * Math.random()));
  const now = Math.max(context.clock.now(), state.lastAt);
  const { wallClockMs } = state.limits;
  return wallClockMs !== undefined && context.kit.core.workedMs(state, now) + waitMs > wallClockMs
    ? undefined
    : now + waitMs;
}

function readFailure({ BelayError }: Kit, error: unknown): Failure {
  const { retryAfterMs, statusCode, status, isRetryable } = asRecord(error);
  const wait = typeof retryAfterMs === "number" && retryAfterMs >= 0 ? { retryAfterMs } : {};
  if (error instanceof BelayError && error.code.startsWith("BELAY_MODEL_")) {
    const isThrottled = error.code === "BELAY_MODEL_THROTTLED";
    return {
      code: error.code,
      isRetryable: isThrottled || error.code === "BELAY_MODEL_UNAVAILABLE",
      isFree: isThrottled,
      firstDelayMs: AFTER_ADAPTER_DELAY_MS,
      ...wait,
    };
  }
  const http = typeof statusCode === "number" ? statusCode : typeof status === "number" ? status : 0;
  if (http === 429) return { code: "BELAY_MODEL_THROTTLED", isRetryable: true, isFree: true, ...wait };
  if (http >= 500 && http <= 599) return { code: "BELAY_MODEL_UNAVAILABLE", isRetryable: true, isFree: false, ...wait };
  return { code: "model_error", isRetryable: isRetryable === true, isFree: false, ...wait };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
